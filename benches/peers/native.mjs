// Joins Foldback to the peers' native harness, measures all of them in one run and prints the tables of
// docs/benchmarks.md.
// Usage: node native.mjs HARNESS [--quick] [--portable] [CASE...]; HARNESS is a copy of it that may be
// changed. `--portable` leaves out the second build, which is for this machine alone.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [harness, ...words] = process.argv.slice(2);
if (!harness) throw new Error("usage: node native.mjs HARNESS [--quick] [--portable] [CASE...]");
const quick = words.includes("--quick");
const labels = words.includes("--portable") ? [""] : ["", "+native"];
const cases = words.filter((word) => !word.startsWith("--"));
const here = import.meta.dirname;
const native = resolve(harness, "native");
const results = resolve(harness, "results");

const LIBRARIES = ["candle", "burn-flex", "burn-ndarray"];
const OURS = ["foldback", "foldback-anew"];
const PEERS = ["plain-rust", ...LIBRARIES, ...OURS];

// One change of a file of the harness, made once.
function change(path, anchor, added) {
  const text = readFileSync(path, "utf8");
  if (text.includes(added)) return;
  if (!text.includes(anchor)) throw new Error(`${path} has no \`${anchor}\``);
  writeFileSync(path, text.replace(anchor, () => added + anchor));
}

function joined() {
  copyFileSync(join(here, "p_foldback.rs"), join(native, "src/p_foldback.rs"));
  const crates = { foldback: "../../crate-core", "foldback-benches": ".." };
  for (const [name, path] of Object.entries(crates))
    change(join(native, "Cargo.toml"), "serde = {", `${name} = { path = "${resolve(here, path)}" }\n`);
  const main = join(native, "src/main.rs");
  change(main, "mod roofline;", "mod p_foldback;\n");
  change(main, "_ => None,", `"foldback" => Some(p_foldback::prepare(c, i, false)),\n        `);
  change(main, "_ => None,", `"foldback-anew" => Some(p_foldback::prepare(c, i, true)),\n        `);
  change(main, `_ => "hand-written"`, `"foldback" | "foldback-anew" => "foldback 0.1.0",\n        `);
}

// Builds for every machine, as Foldback is shipped, or for this one alone, which the libraries gain by.
function measure(label) {
  const folder = label ? "target-native" : "target";
  const flags = label ? { RUSTFLAGS: "-C target-cpu=native", CARGO_TARGET_DIR: folder } : {};
  const options = { cwd: native, stdio: "inherit", env: { ...process.env, ...flags, RAYON_NUM_THREADS: "1" } };
  execFileSync("nice", ["-n", "15", "cargo", "build", "--release"], options);
  const args = ["-c", "1", `${folder}/release/peers`, "--peers", PEERS.join(","), "--roofline"];
  if (quick) args.push("--rounds", "1", "--samples", "5");
  if (cases.length) args.push("--cases", cases.join(","));
  const out = `../results/${label ? "native-cpu" : "native"}.json`;
  execFileSync("taskset", [...args, "--label", label, "--out", out], options);
  return JSON.parse(readFileSync(join(native, out), "utf8"));
}

function time(ms) {
  return ms === undefined ? "–" : ms < 0.1 ? `${(ms * 1e3).toPrecision(3)} µs` : `${ms.toPrecision(3)} ms`;
}

function table(label, mode, summary) {
  const found = (peer, id) => summary.find((r) => r.peer === peer + label && r.case === id && r.mode === mode);
  const ids = [...new Set(summary.map((r) => r.case))].filter((id) => found("foldback", id));
  console.log(`\n| ${mode}${label} | ${PEERS.join(" | ")} | best library / Foldback |`);
  console.log(`|---|${"---|".repeat(PEERS.length + 1)}`);
  for (const id of ids) {
    const cells = PEERS.map((peer) => time(found(peer, id)?.median) + (found(peer, id)?.ok ? "" : " wrong"));
    const best = Math.min(...LIBRARIES.map((peer) => found(peer, id)?.median ?? Infinity));
    console.log(`| ${id} | ${cells.join(" | ")} | ${(best / found("foldback", id).median).toPrecision(2)} |`);
  }
}

joined();
mkdirSync(results, { recursive: true });
const notes = resolve(harness, "RESULTS-notes.md");
if (!existsSync(notes)) writeFileSync(notes, "");
const runs = labels.map((label) => [label, measure(label)]);
const files = ["native.json", "native-cpu.json"].slice(0, runs.length).map((name) => join(results, name));
execFileSync("python3", ["report.py", ...files], { cwd: resolve(harness), stdio: "inherit" });
const summary = JSON.parse(readFileSync(join(results, "summary.json"), "utf8")).results;
for (const [label] of runs) for (const mode of ["step", "fwd"]) table(label, mode, summary);
for (const [label, run] of runs)
  for (const [name, r] of Object.entries(run.rooflines)) console.log(`${name}${label}: ${r.median.toFixed(1)} ${r.unit}`);
