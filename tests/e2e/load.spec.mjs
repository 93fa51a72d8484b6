// The page starts, from files of the right kind, and then asks for nothing more.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, openPage, ready, seriousFindings, stands, url } from "./lib.mjs";
import { program, says, side } from "./page.mjs";

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

test("each module is fetched once: the page's, and behind it the whole engine", () =>
  onPage(browser, (page, { requests }) => {
    const modules = requests.filter((request) => request.endsWith(".wasm"));
    const names = modules.map((request) => request.split("/").pop().split("-")[0]);
    assert.deepEqual(names, ["foldback", "engine"]);
  }));

test("the first document is stepped through before the whole engine is there", async () => {
  const { page, complaints } = await openPage(browser);
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/engine-*.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(url);
  await stands(page);
  const step = page.getByRole("slider", { name: "Step" });
  const last = await step.getAttribute("aria-valuenow");
  await page.getByRole("button", { name: "Previous step" }).click();
  assert.notEqual(await step.getAttribute("aria-valuenow"), last);
  await says(page, side(page), "y");
  // What needs the whole engine waits for it, and then is there.
  await program(page).fill("param x = 3\nloss = tanh(x)\ncheck fd\n");
  assert.equal(await page.locator("html").getAttribute("data-engine"), null);
  release();
  await says(page, page.locator("#program .outline"), "loss");
  await page.getByRole("button", { name: "Checks" }).first().click();
  await says(page, page.locator("#over"), "agrees");
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test("an engine that cannot be loaded is told when it is needed", async () => {
  const { page } = await openPage(browser);
  await page.route("**/engine-*.wasm", (route) => route.abort());
  await page.goto(url);
  await stands(page);
  await program(page).fill("param x = 3\ny = tanh(x)\n");
  await says(page, page.locator(".crash"), "could not be loaded");
  await page.unroute("**/engine-*.wasm");
  await page.getByRole("button", { name: "Retry" }).click();
  await says(page, page.locator("#program .outline"), "y");
  assert.equal(await page.locator(".crash").count(), 0);
  await page.context().close();
});

test("goes on without a network once it has loaded", () =>
  onPage(browser, async (page, { requests }) => {
    const asked = requests.length;
    await page.context().setOffline(true);
    // A key of the page's own, and the editor's focus order: whatever they do is done here.
    for (const key of ["Tab", "Tab", "ArrowRight", "End"]) await page.keyboard.press(key);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done())));
    // A worker is made of what the page holds already.
    const further = requests.slice(asked).filter((request) => !request.startsWith("blob:"));
    assert.deepEqual(further, []);
  }));

test("a page without WebAssembly says that it did not start", async () => {
  const { page } = await openPage(browser);
  await page.addInitScript(() => delete globalThis.WebAssembly);
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.dataset.state === "failed");
  await page.context().close();
});
