// The engine in the browser's worker gives the same bits as the native build, for every document of the suite.
// `tests/suite/digests.json` is the native build's word; `cargo test -p foldback-tests` keeps it true.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { launch, onPage, openPage, ready, stands, url } from "./lib.mjs";

const suite = new URL("../suite/", import.meta.url);
const digests = JSON.parse(await readFile(new URL("digests.json", suite), "utf8"));

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("native and WebAssembly give the same bits", () =>
  onPage(browser, async (page) => {
    const [worker] = page.workers();
    const differ = [];
    for (const [name, native] of Object.entries(digests)) {
      const text = await readFile(new URL(name, suite), "utf8");
      const web = await worker.evaluate((text) => wasm_bindgen.digest(text), text);
      if (web !== native) differ.push(`${name}\n  native ${native}\n  web    ${web}`);
    }
    assert.ok(Object.keys(digests).length > 50, "hardly any documents");
    assert.deepEqual(differ, []);
  }));

test("the part of the engine that the page starts with answers as the whole does, or not at all", async () => {
  const { page } = await openPage(browser);
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/engine-*.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(url);
  await stands(page);
  const example = (name) => readFile(new URL(`../../www/examples/${name}.fold`, import.meta.url), "utf8");
  const refusal = await example("refusal");
  const first = [
    refusal,
    refusal.replace("w / c", "w / repeat(c, w)"),
    refusal.replace("upstream", "ggml"),
    refusal.replace("upstream", "numpy"),
    await example("router-8"),
  ];
  const names = Object.keys(digests);
  const others = await Promise.all(names.map((name) => readFile(new URL(name, suite), "utf8")));
  const texts = [...first, ...others];
  const answers = () =>
    page.workers()[0].evaluate(
      (texts) => texts.map((text) => Array.from(wasm_bindgen.answer(text), (byte) => byte).join()),
      texts,
    );
  const part = await answers();
  release();
  await ready(page);
  const whole = await answers();
  assert.ok(whole.every((answer) => answer !== ""));
  // What a newcomer meets is not among those that wait: the refusal, what its chips lead to, and eight experts.
  for (const name of ["router/first.fold", "router/repaired.fold", "router/eight-experts.fold"]) {
    assert.notEqual(part[first.length + names.indexOf(name)], "", `the part does not answer ${name}`);
  }
  for (const [ix, answer] of part.entries()) {
    if (answer !== "") assert.equal(answer === whole[ix], true, texts[ix]);
    // What a newcomer meets in the first minute, and what the repairs make of it.
    else assert.ok(ix >= first.length, `the part does not answer\n${texts[ix]}`);
  }
  await page.context().close();
});
