// The engine ends, and the page does not: the text stays, and what broke the engine is not sent again by itself.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, openPage, ready, url } from "./lib.mjs";
import { program, says, side, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const alert = (page) => page.locator(".crash");
const workers = (page) => page.workers().length;

async function faulty(body) {
  const { page, complaints } = await openPage(browser);
  // Counts how often a text reaches a worker.
  await page.addInitScript(() => {
    globalThis.sent = [];
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (message, ...rest) {
      const text = message?.job?.Analyse?.text ?? message?.get?.("job")?.get?.("Analyse")?.get?.("text");
      if (text !== undefined) globalThis.sent.push(text);
      return post.call(this, message, ...rest);
    };
  });
  await page.goto(`${url}?fault`);
  await ready(page);
  await body(page);
  assert.deepEqual(complaints, [], "the page complained");
  await page.context().close();
}

const times = (page, part) =>
  page.evaluate((part) => globalThis.sent.filter((text) => text.includes(part)).length, part);

for (const [fault, words] of [
  ["trap", "The engine crashed"],
  ["panic", "a panic on purpose"],
  ["hang", "took too long"],
]) {
  test(`a ${fault} of the engine is survived`, () =>
    faulty(async (page) => {
      const broken = `${await program(page).inputValue()}# fault: ${fault}\n`;
      await program(page).fill(broken);
      await says(page, alert(page), words);
      assert.equal(await program(page).inputValue(), broken, "the text is kept");
      assert.ok((await page.locator("#graph .node").count()) > 3, "so is the graph");
      assert.equal(await times(page, `fault: ${fault}`), 1);

      // The page is alive, and another worker stands by without having seen the text.
      await page.getByRole("button", { name: "Previous step" }).click();
      await says(page, page.locator("#side h2"), "Inspect");
      await says(page, page.locator(".crash"), "Retry");
      // A worker in an endless loop takes a while to end.
      await until(page, "one worker", () => workers(page) === 1);
      assert.equal(await times(page, `fault: ${fault}`), 1, "not sent again by itself");

      // A text without the fault is read by it.
      await program(page).fill("rules numpy\nparam x = 3\nloss = x * x\n");
      await says(page, page.locator("#program .outline"), "loss");
      assert.equal(await alert(page).count(), 0);
      await says(page, page.locator(".saved"), "Saved");
    }));
}

test("two crashes in a row leave the engine off until somebody asks for it", () =>
  faulty(async (page) => {
    const text = await program(page).inputValue();
    await program(page).fill(`${text}# fault: trap\n`);
    await says(page, alert(page), "Your text is kept");
    await page.getByRole("button", { name: "Retry" }).click();
    await says(page, alert(page), "twice in a row");
    await until(page, "no worker", () => workers(page) === 0);
    assert.equal(await times(page, "fault: trap"), 2);
    await program(page).fill(text);
    assert.equal(workers(page), 0, "an edit alone starts nothing");
    await page.getByRole("button", { name: "Retry" }).click();
    await says(page, side(page), "gradient-shape");
    assert.equal(await alert(page).count(), 0);
    assert.equal(workers(page), 1);
  }));

test("a crash of the page itself is told, with the text in reach", async () => {
  const { page } = await openPage(browser, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(url);
  await ready(page);
  const text = await program(page).inputValue();
  await page.evaluate(() =>
    dispatchEvent(new ErrorEvent("error", { error: new WebAssembly.RuntimeError("unreachable") })),
  );
  await says(page, page.getByRole("alert"), "The page crashed");
  await page.getByRole("button", { name: "Copy text" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
  await page.getByRole("button", { name: "Reload" }).click();
  await ready(page);
  assert.equal(await program(page).inputValue(), text);
  await page.context().close();
});
