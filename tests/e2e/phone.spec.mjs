// A narrow page: panes are tabs, the stepper stays, nothing is wider than the screen.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, seriousFindings } from "./lib.mjs";
import { place, program, says, side } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

for (const width of [390, 320]) {
  test(`everything is in reach at ${width} pixels`, () =>
    onPage(
      browser,
      async (page) => {
        const overflow = () =>
          page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        const tab = (name) =>
          page.getByRole("navigation", { name: "Panes" }).getByRole("button", { name });
        const visible = async () => [
          await program(page).isVisible(),
          await page.locator("#graph").isVisible(),
          await side(page).isVisible(),
        ];
        assert.deepEqual(await visible(), [false, true, false]);
        assert.ok((await overflow()) <= 0);
        assert.deepEqual(await seriousFindings(page), []);

        await tab("Inspect").click();
        assert.deepEqual(await visible(), [false, false, true]);
        await says(page, side(page), "gradient-shape");
        assert.ok((await overflow()) <= 0);
        assert.deepEqual(await seriousFindings(page), []);

        const { now } = await place(page);
        await page.getByRole("button", { name: "Previous step" }).click();
        assert.equal((await place(page)).now, now - 1);

        await tab("Program").click();
        assert.deepEqual(await visible(), [true, false, false]);
        assert.ok((await overflow()) <= 0);
        await program(page).fill("rules numpy\nparam x = 3\nloss = x * x\n");
        await tab("Graph").click();
        await page.getByRole("button", { name: "Steps" }).click();
        await says(page, page.locator("#over"), "in all");
        assert.ok((await overflow()) <= 0);
        await page.getByRole("button", { name: "Back to graph" }).click();

        await page.getByRole("button", { name: "Menu" }).click();
        await page.getByRole("button", { name: "Examples" }).click();
        await page.getByRole("button", { name: "Two-expert router" }).click();
        await says(page, page.locator("h1"), "Two-expert router");
        assert.deepEqual(await seriousFindings(page), []);

        // What a finger meets is at least 24 pixels in both directions.
        const small = await page.locator("button:visible, select:visible").evaluateAll((controls) =>
          controls
            .map((control) => [control.getBoundingClientRect(), control.textContent])
            .filter(([{ width, height }]) => width < 24 || height < 24)
            .map(([, name]) => name),
        );
        assert.deepEqual(small, []);
      },
      { viewport: { width, height: 720 }, bypassCSP: true },
    ));
}
