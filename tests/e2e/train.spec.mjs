// A training run has a worker of its own: it can be watched and controlled, and keeps nobody waiting.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, openPage, ready, url } from "./lib.mjs";
import { program, says, scrubber, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const router = (steps, rules = "ggml") => `# a run
rules ${rules}
param w [1, 2] = [[0.3, 0.2]]
s = sum_rows(w)
c = clamp(s, min=6.103515625e-5)
y = w / c
loss = y[0, 0]
train sgd lr=0.001 steps=${steps}
`;

/** So large that its steps last: as many as a text may ask for take minutes. */
const long = `# a long run
param w [1024, 64] = rand(seed=1, lo=0.1, hi=1)
const t [1024, 64] = rand(seed=2, lo=-1, hi=1)
y = w / clamp(sum_rows(w), min=6.103515625e-5)
loss = sum(y * t)
train sgd lr=0.001 steps=100000
`;

const over = (page) => page.locator("#over");
const steps = async (page) => Number(await over(page).locator("progress").getAttribute("value"));

async function checks(page, text) {
  await program(page).fill(text);
  await says(page, page.locator(".saved"), "Saved");
  if ((await over(page).count()) === 0) {
    await page.getByRole("button", { name: /^Checks/ }).first().click();
  }
}

test("a run is started, paused, taken a step further, cancelled and taken again", () =>
  onPage(browser, async (page) => {
    await checks(page, long);
    const button = (name) => over(page).getByRole("button", { name, exact: true });
    // A long run waits to be asked.
    await says(page, over(page), "Not started");
    await button("One step").click();
    await until(page, "one step", async () => (await steps(page)) === 1);
    await says(page, over(page), "Paused");
    await button("Continue").click();
    await until(page, "more steps", async () => (await steps(page)) > 100);
    await button("Pause").click();
    await says(page, over(page), "Paused");
    const paused = await steps(page);
    for (let frame = 0; frame < 30; frame += 1) {
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done())));
    }
    assert.equal(await steps(page), paused, "it waits");
    await says(page, over(page), "a second");
    await button("Continue").click();
    await until(page, "to go on", async () => (await steps(page)) > paused);
    await button("Cancel").click();
    await says(page, over(page), "Cancelled");
    assert.ok((await over(page).locator("svg.chart").count()) === 1, "what it has done stays");
    await button("Train again").click();
    await says(page, over(page), "Running");
  }));

test("a long run goes on while the text is edited and the graph is stepped", () =>
  onPage(browser, async (page) => {
    await checks(page, long);
    await over(page).getByRole("button", { name: "Start", exact: true }).click();
    await says(page, over(page), "Running");
    const then = await steps(page);
    const before = await scrubber(page).getAttribute("aria-valuenow");
    await page.getByRole("button", { name: "Previous step" }).click();
    assert.notEqual(await scrubber(page).getAttribute("aria-valuenow"), before, "stepping is free");
    await until(page, "the run to go on", async () => (await steps(page)) > then);
    // A text that cannot be read leaves the graph, and the run over it, as they are.
    await program(page).fill(`${long}z = (`);
    await says(page, page.locator("#complaint"), "Line 7");
    const now = await steps(page);
    await until(page, "the run to go on", async () => (await steps(page)) > now);
    // One that can be read is answered at once, and its own run takes the old one's place.
    await program(page).fill(router(3));
    await says(page, over(page), "Done");
    assert.equal(await steps(page), 3);
  }));

test("a refusal is the run's error, with its node in reach, and stepping goes on", () =>
  onPage(browser, async (page) => {
    await checks(page, router(3, "upstream"));
    await says(page, over(page), "Stopped by an error");
    await says(page, over(page), "DIV");
    await over(page).getByRole("button", { name: "Show y" }).click();
    await until(page, "the node to have the focus", () =>
      page.evaluate(() => document.activeElement?.getAttribute("aria-label")?.startsWith("div y,")),
    );
    await page.getByRole("button", { name: "Previous step" }).click();
    await program(page).fill(router(3));
    await page.getByRole("button", { name: /^Checks/ }).first().click();
    await says(page, over(page), "Done");
  }));

test("a run that leaves the numbers names the node where it does", () =>
  onPage(browser, async (page) => {
    await checks(page, "param x = 3\nloss = exp(x * x)\ntrain sgd lr=100 steps=50\n");
    await says(page, over(page), "Stopped by an error");
    await says(page, over(page), "not finite");
  }));

test("a trainer that ends is told, and the page and its engine go on", async () => {
  const { page } = await openPage(browser);
  await page.goto(url);
  await ready(page);
  await checks(page, long);
  await says(page, over(page), "Not started");
  await until(page, "three workers", () => page.workers().length === 3);
  // One of the later two is the trainer: an error that nobody catches ends it. The other one makes panels.
  for (const worker of page.workers().slice(1)) {
    await worker.evaluate(() => setTimeout(() => { throw new Error("on purpose"); }));
  }
  await says(page, over(page), "Stopped by an error");
  await says(page, over(page), "on purpose");
  await over(page).getByRole("button", { name: "Train again" }).click();
  await says(page, over(page), "Running");
  await page.context().close();
});
