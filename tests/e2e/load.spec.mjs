// The page starts, from files of the right kind, and then asks for nothing more.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, openPage, ready, seriousFindings, url } from "./lib.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("loads without a complaint", () => onPage(browser, () => {}));

test("axe finds nothing serious", () =>
  onPage(browser, async (page) => assert.deepEqual(await seriousFindings(page), []), {
    bypassCSP: true,
  }));

test("each file has its type and comes from the site itself", async () => {
  const { page } = await openPage(browser);
  const types = new Map();
  page.on("response", (response) => {
    const { origin, pathname } = new URL(response.url());
    assert.equal(origin, new URL(url).origin);
    types.set(pathname.split(".").pop(), response.headers()["content-type"]);
  });
  await page.goto(url);
  await ready(page);
  assert.equal(types.get("wasm"), "application/wasm");
  assert.match(types.get("js"), /^text\/javascript/);
  assert.match(types.get("css"), /^text\/css/);
  await page.context().close();
});

test("the module is fetched once, for page and worker", () =>
  onPage(browser, (page, { requests }) => {
    assert.equal(requests.filter((request) => request.endsWith(".wasm")).length, 1);
  }));

test("goes on without a network once it has loaded", () =>
  onPage(browser, async (page, { requests }) => {
    const asked = requests.length;
    await page.context().setOffline(true);
    // A key of the page's own, and the editor's focus order: whatever they do is done here.
    for (const key of ["Tab", "Tab", "ArrowRight", "End"]) await page.keyboard.press(key);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done())));
    assert.deepEqual(requests.slice(asked), []);
  }));

test("a page without WebAssembly says that it did not start", async () => {
  const { page } = await openPage(browser);
  await page.addInitScript(() => delete globalThis.WebAssembly);
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.dataset.state === "failed");
  await page.context().close();
});
