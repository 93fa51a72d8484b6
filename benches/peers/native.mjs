// Joins Foldback to the peers' native harness, measures all of them in one run and prints the tables of
// docs/benchmarks.md.
// Usage: node native.mjs HARNESS [--quick] [--portable] [--again] [CASE...]; HARNESS is a copy of it that may be changed.
// `--portable` leaves out the second build, which is for this machine alone; `--again` prints what was measured last.
// Figures are medians; with `--quick`, for a machine that others use as well, they are the least of few samples.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [harness, ...words] = process.argv.slice(2);
if (!harness) throw new Error("usage: node native.mjs HARNESS [--quick] [--portable] [--again] [CASE...]");
const quick = words.includes("--quick");
const again = words.includes("--again");
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
  const manifest = join(native, "Cargo.toml");
  // Another copy of this repository may have joined before.
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/^foldback(-benches)? = .*\n/gm, ""));
  for (const [name, path] of Object.entries(crates))
    change(manifest, "serde = {", `${name} = { path = "${resolve(here, path)}" }\n`);
  const main = join(native, "src/main.rs");
  change(main, "mod roofline;", "mod p_foldback;\n");
  change(main, "_ => None,", `"foldback" => Some(p_foldback::prepare(c, i, false)),\n        `);
  change(main, "_ => None,", `"foldback-anew" => Some(p_foldback::prepare(c, i, true)),\n        `);
  change(main, `_ => "hand-written"`, `"foldback" | "foldback-anew" => "foldback 0.1.0",\n        `);
}

function file(label) {
  return join(results, label ? "native-cpu.json" : "native.json");
}

// Builds for every machine, as Foldback is shipped, or for this one alone, which the libraries gain by.
function measure(label) {
  const folder = label ? "target-native" : "target";
  const flags = label ? { RUSTFLAGS: "-C target-cpu=native", CARGO_TARGET_DIR: folder } : {};
  const options = { cwd: native, stdio: "inherit", env: { ...process.env, ...flags, RAYON_NUM_THREADS: "1" } };
  execFileSync("nice", ["-n", "15", "cargo", "build", "--release"], options);
  const args = ["-c", "1", `${folder}/release/peers`, "--peers", PEERS.join(","), "--roofline"];
  if (quick) args.push("--rounds", "2", "--samples", "5");
  if (cases.length) args.push("--cases", cases.join(","));
  execFileSync("taskset", [...args, "--label", label, "--out", file(label)], options);
}

function time(ms) {
  return ms === undefined ? "–" : ms < 0.1 ? `${(ms * 1e3).toPrecision(3)} µs` : `${ms.toPrecision(3)} ms`;
}

// One table: what a step takes, or forward alone, by workload and peer.
function table(label, mode, rows, matches) {
  const found = (peer, id) => rows.find((r) => r.peer === peer + label && r.case === id && r.mode === mode);
  const taken = (peer, id) => (quick ? found(peer, id)?.min : found(peer, id)?.median);
  const mark = (peer, id) => (matches.has(`${peer}${label} ${id}`) ? "" : " wrong");
  console.log(`\n| ${mode}${label} | ${PEERS.join(" | ")} | best library / Foldback |`);
  console.log(`|---|${"---|".repeat(PEERS.length + 1)}`);
  for (const id of new Set(rows.map((r) => r.case))) {
    const cells = PEERS.map((peer) => time(taken(peer, id)) + mark(peer, id));
    const best = Math.min(...LIBRARIES.map((peer) => taken(peer, id) ?? Infinity));
    console.log(`| ${id} | ${cells.join(" | ")} | ${(best / taken("foldback", id)).toPrecision(2)} |`);
  }
}

mkdirSync(results, { recursive: true });
const notes = resolve(harness, "RESULTS-notes.md");
if (!existsSync(notes)) writeFileSync(notes, "");
if (!again) {
  joined();
  labels.forEach(measure);
}
execFileSync("python3", ["report.py", ...labels.map(file)], { cwd: resolve(harness), stdio: "inherit" });
const summary = JSON.parse(readFileSync(join(results, "summary.json"), "utf8")).results;
const matches = new Set(summary.filter((r) => r.ok).map((r) => `${r.peer} ${r.case}`));
for (const label of labels) {
  const { results: rows, rooflines } = JSON.parse(readFileSync(file(label), "utf8"));
  for (const mode of ["step", "fwd"]) table(label, mode, rows, matches);
  console.log();
  for (const [name, r] of Object.entries(rooflines)) console.log(`${name}${label}: ${r.median.toFixed(1)} ${r.unit}`);
}
