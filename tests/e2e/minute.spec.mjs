// The first minute of somebody without a mouse: a refusal, its repair, the next one, the checks, an edit.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, seriousFindings } from "./lib.mjs";
import { place, program, says, side, tabTo, toPane, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("the first minute, by keyboard alone", () =>
  onPage(
    browser,
    async (page) => {
      const axe = async (stage) => assert.deepEqual(await seriousFindings(page), [], stage);

      // The graph is drawn, stopped at the refusal, and the right column says why.
      assert.equal(await page.locator("h1").innerText(), "Why does this refuse to train?");
      await says(page, side(page), "gradient-shape");
      const opened = await place(page);
      assert.equal(opened.now, opened.max, "it opens at the refusal, which ends the trace");
      await axe("opened");

      // Right starts again at the seed, and goes on to the rule of the division.
      await toPane(page, "stepper");
      await page.keyboard.press("ArrowRight");
      const seed = await place(page);
      assert.match(seed.text, /loss/);
      assert.ok(seed.now < opened.now);
      await page.keyboard.press("ArrowRight");
      assert.equal((await place(page)).now, seed.now + 1);
      await says(page, page.locator("#side h2"), "Inspect");
      await axe("stepping");

      // F8 comes back to the problem from anywhere.
      await page.keyboard.press("F8");
      assert.equal((await place(page)).now, opened.now);
      await says(page, side(page), "gradient-shape");

      // The repair in the graph: shown as a difference, applied with one key.
      await toPane(page, "side");
      await tabTo(page, "Apply w / repeat(c, w)");
      await page.keyboard.press("Enter");
      await says(page, side(page), "no-backward");
      assert.match(await program(page).inputValue(), /y = w \/ repeat\(c, w\)/);
      await says(page, side(page), /clamp/i);
      await axe("the next refusal");

      // Its repair, and with it the last step of the build and the checks.
      const [name] = await page.getByRole("button", { name: /^Apply / }).evaluateAll((buttons) =>
        buttons.map((button) => button.getAttribute("aria-label")),
      );
      await toPane(page, "side");
      await tabTo(page, name);
      await page.keyboard.press("Enter");
      await until(page, "no problem left", async () => {
        const { text } = await place(page);
        return !/refused/i.test(text) && !(await side(page).innerText()).includes("no-backward");
      });
      await toPane(page, "dock");
      await tabTo(page, "Checks");
      await page.keyboard.press("Enter");
      await says(page, page.locator("#over"), "w[1,0]");
      await says(page, page.locator("#over"), "16384");
      await axe("checks");
      await page.keyboard.press("Escape");
      assert.equal(await page.locator("#over").count(), 0);

      // An edit of the text is read at once.
      await toPane(page, "program");
      const at = (await program(page).inputValue()).indexOf("0.2") + 3;
      await page.keyboard.press("Control+Home");
      for (let moves = 0; moves < at; moves += 1) await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Backspace");
      await page.keyboard.press("9");
      assert.match(await program(page).inputValue(), /\[\[0\.9, 0\.3, 0\.5\]/);
      await toPane(page, "stage");
      await says(page, page.locator("#program .ln").nth(3), "s = sum_rows(w)");
      await until(page, "the new sum in the graph", async () =>
        (await page.locator("#graph").textContent()).includes("1.7"),
      );
      await axe("edited");
    },
    { bypassCSP: true },
  ));
