// The engine in the browser's worker gives the same bits as the native build, for every document of the suite.
// `tests/suite/digests.json` is the native build's word; `cargo test -p foldback-tests` keeps it true.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { launch, onPage } from "./lib.mjs";

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
