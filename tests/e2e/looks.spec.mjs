// Every screen in both themes and in forced colours: nothing serious is found, nothing is wider than the screen, and
// nothing moves while one steps.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, seriousFindings } from "./lib.mjs";
import { command, program, says, scrubber, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** What stands over the graph, by the command that opens it, and a word that shows it is there. */
const SCREENS = [
  ["graph", null, null],
  ["checks", "checks", "autodiff"],
  ["steps", "steps", "Detail"],
  ["fold", "show-fold", "Stretch"],
  ["rules", "show-rules", "Judge by"],
  ["paths", "show-paths", "contribution"],
  ["reference", "reference", "GGML"],
  ["keys", "help", "Single characters"],
  ["draw", "draw new", "Adds element by element"],
  ["find", "draw find", "Run to the next fold"],
];

/** Those that are lists. */
const LISTS = ["draw", "find"];

async function atFold(page) {
  await program(page).fill(
    "# looks\nrules numpy\nconst X [3 row, 2] = 1\nparam b [2] = [0, 0]\ny = X + b\nloss = sum(y * [[1,2],[3,4],[5,6]])\ncheck fd\ntrain sgd lr=0.1 steps=2\n",
  );
  await says(page, page.locator(".saved"), "Saved");
  await scrubber(page).focus();
  await until(page, "the fold", async () => {
    await page.keyboard.press(".");
    return (await page.locator("#stepper .say").textContent()).startsWith("Fold ");
  });
}

async function each(page, look) {
  for (const [name, opens, word] of SCREENS) {
    if (opens) {
      await command(page, opens);
      if (name === "reference") await command(page, "tell op=div");
      await says(page, page.locator(LISTS.includes(name) ? "#draw" : "#over"), word);
    }
    await look(name);
    if (LISTS.includes(name)) await page.keyboard.press("Escape");
    else if (opens) await command(page, "graph");
  }
}

for (const [name, context] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["forced colours", { forcedColors: "active" }],
]) {
  test(`nothing serious is found on any screen: ${name}`, () =>
    onPage(
      browser,
      async (page) => {
        await atFold(page);
        await each(page, async (screen) => {
          assert.deepEqual(await seriousFindings(page), [], screen);
        });
      },
      context,
    ));
}

test("no screen is wider than 320 pixels", () =>
  onPage(
    browser,
    async (page) => {
      await command(page, "tab program");
      await atFold(page);
      await each(page, async (screen) => {
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${screen} is ${wide} pixels too wide`);
      });
    },
    { viewport: { width: 320, height: 640 } },
  ));

test("nothing moves while one steps", () =>
  onPage(browser, async (page) => {
    const places = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("#graph .node > .hit, #stepper button, #dock button, .head button")]
          .filter((element) => !element.closest("#side, #over"))
          .map((element) => {
            const { x, y, width, height } = element.getBoundingClientRect();
            return [x, y, width, height].map(Math.round).join();
          })
          .join(" "),
      );
    await scrubber(page).focus();
    await page.keyboard.press("Home");
    await says(page, page.locator("#stepper .count"), "1 ");
    await page.evaluate(() => {
      globalThis.shifts = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const outside = entry.sources.some(({ node }) => !node?.parentElement?.closest("#side, #stepper .say"));
          if (outside) globalThis.shifts += entry.value;
        }
      }).observe({ type: "layout-shift" });
    });
    const before = await places();
    for (let step = 0; step < 12; step += 1) await page.keyboard.press("ArrowRight");
    await says(page, page.locator("#stepper .count"), "13");
    assert.equal(await places(), before);
    assert.equal(await page.evaluate(() => globalThis.shifts), 0);
  }));

for (const width of [1440, 1280, 1101, 900]) {
  test(`no bar is fuller than it is wide at ${width} pixels`, () =>
    onPage(
      browser,
      async (page) => {
        // The page opens at a refusal, when its bars have the most to hold.
        const full = () =>
          page.evaluate(() =>
            [...document.querySelectorAll(".stepinfo > div, .stage > .head, .side > .head, .dock, .transport")]
              .filter((bar) => bar.scrollWidth > bar.clientWidth)
              .map((bar) => `${bar.className}: ${bar.scrollWidth} in ${bar.clientWidth}`),
          );
        assert.deepEqual(await full(), []);
      },
      { viewport: { width, height: 900 } },
    ));
}
