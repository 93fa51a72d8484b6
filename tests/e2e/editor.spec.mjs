// The program's editor: proposals, cards, brackets, what is found, and which letters do what.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, ready, seriousFindings } from "./lib.mjs";
import { command, program, says, scrubber, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const TEXT = "rules numpy\nparam weights [2, 3] = 1\nsums = sum_rows(weights)\ny = weights / sums\nloss = sum(y)\n";
const aid = (page) => page.locator("#aid .aid");
const proposals = (page) => page.getByRole("listbox", { name: "Proposals" }).getByRole("option");
const found = (page) => page.locator("#draw").getByRole("option");

async function write(page, text) {
  await program(page).fill(text);
  await says(page, page.locator(".saved"), "Saved");
  await program(page).focus();
  await page.keyboard.press("Control+End");
}

test("a word that is being written has proposals, which keys choose from", () =>
  onPage(browser, async (page) => {
    await write(page, TEXT);
    await page.keyboard.type("z = cla");
    await says(page, proposals(page).first(), "clamp");
    assert.match(await proposals(page).first().innerText(), /min=/, "its signature");
    // Enter ends the line as long as nothing has been chosen: who only types is not disturbed.
    await page.keyboard.press("Enter");
    assert.ok((await program(page).inputValue()).endsWith("z = cla\n"));
    await page.keyboard.press("Backspace");
    await page.keyboard.type("m");
    await says(page, proposals(page).first(), "clamp");
    await page.keyboard.press("ArrowDown");
    assert.match((await program(page).getAttribute("aria-activedescendant")) ?? "", /^line-/);
    assert.deepEqual(await seriousFindings(page), []);
    await page.keyboard.press("Enter");
    await until(page, "it is written", async () => (await program(page).inputValue()).endsWith("z = clamp("));
    // One step of undo takes it back.
    await page.keyboard.press("Control+z");
    await until(page, "undone", async () => (await program(page).inputValue()).endsWith("z = clam"));
  }));

test("proposals are asked for, close with Escape, and know attributes and nodes", () =>
  onPage(browser, async (page) => {
    await write(page, `${TEXT}z = clamp(weights, `);
    await page.keyboard.press("Control+ ");
    await until(page, "attributes", async () =>
      (await proposals(page).allInnerTexts()).some((item) => item.includes("min=")),
    );
    await page.keyboard.press("Escape");
    assert.equal(await aid(page).count(), 0);
    await page.keyboard.type("min=1) + sum");
    await until(page, "the node", async () =>
      (await proposals(page).allInnerTexts()).some((item) => item.includes("sums")),
    );
    // A click takes one, too, and the field keeps the focus.
    await proposals(page).filter({ hasText: "sums" }).first().click();
    await until(page, "it is written", async () => (await program(page).inputValue()).endsWith("min=1) + sums"));
    await page.keyboard.type(" + su");
    await until(page, "further ones", async () => (await proposals(page).count()) > 0);
    // Shift and Tab go back, and what leaves the program takes its proposals along.
    await page.keyboard.press("Shift+Tab");
    assert.ok((await program(page).inputValue()).endsWith("+ su"), "nothing is written");
    await until(page, "they are gone", async () => (await aid(page).count()) === 0);
  }));

test("a card says what a word is, by pointer and by key", () =>
  onPage(browser, async (page) => {
    await write(page, TEXT);
    const word = page.locator("#program .ln").nth(2).locator(".f").first();
    const box = await word.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 - 2);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await says(page, aid(page), "sum_rows(a)");
    // It can be pointed at itself, and goes with the pointer.
    const card = await aid(page).boundingBox();
    await page.mouse.move(card.x + 20, card.y + 20, { steps: 4 });
    await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
    await says(page, aid(page), "sum_rows(a)");
    await page.mouse.move(700, 300, { steps: 4 });
    await until(page, "the card to go", async () => (await aid(page).count()) === 0);
    // By key: of the word at the caret; a mistake is said with what to do about it.
    await page.keyboard.type("z = nope(y)");
    await says(page, page.locator("#complaint"), "nope");
    for (let n = 0; n < 5; n += 1) await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Control+i");
    await says(page, aid(page), /unknown|nothing/i);
    assert.deepEqual(await seriousFindings(page), []);
    await page.keyboard.press("Escape");
    assert.equal(await aid(page).count(), 0);
  }));

test("brackets at the caret show their partners", () =>
  onPage(browser, async (page) => {
    await write(page, `${TEXT}z = sum(y)`);
    const at = async (id) => (await page.locator(id).boundingBox())?.x;
    await until(page, "both", async () => (await at("#bracket")) > 0 && (await at("#partner")) > 0);
    const pair = [await at("#bracket"), await at("#partner")];
    assert.ok(pair[0] > pair[1], `the caret is behind the one that closes: ${pair}`);
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Backspace");
    await until(page, "one alone", async () => !(await page.locator("#partner").isVisible()));
    assert.match(await page.locator("#bracket").getAttribute("class"), /odd/);
  }));

test("Ctrl F finds a line and Ctrl K everything else", () =>
  onPage(browser, async (page) => {
    await write(page, TEXT);
    await page.keyboard.press("Control+f");
    await until(page, "the lines", async () => (await found(page).count()) > 0);
    await page.keyboard.type("y = w");
    await until(page, "one line", async () => (await found(page).count()) === 1);
    await page.keyboard.press("Enter");
    await until(page, "the caret", async () =>
      program(page).evaluate((field) => document.activeElement === field && field.selectionStart),
    );
    assert.equal(await program(page).evaluate((field) => field.selectionStart), TEXT.indexOf("y = w"));
    // A node, by its shape.
    await page.keyboard.press("Control+k");
    await until(page, "the list", async () => (await found(page).count()) > 0);
    await page.keyboard.type("[2,1]");
    await says(page, found(page).first(), "sums");
    await page.keyboard.press("Enter");
    await says(page, page.locator("#side"), "sums");
    // With what is selected, something can be done.
    await page.keyboard.press("Control+k");
    await until(page, "the list", async () => (await found(page).count()) > 0);
    await page.keyboard.type("duplicate");
    await says(page, found(page).first(), "Duplicate sums");
    await page.keyboard.press("Enter");
    await until(page, "two of them", async () => (await program(page).inputValue()).split("sum_rows").length === 3);
    // Any action, and Escape gives the focus back.
    await program(page).focus();
    await page.keyboard.press("Control+k");
    await until(page, "the list", async () => (await found(page).count()) > 0);
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.activeElement.id), "text");
    await page.keyboard.press("Control+k");
    await until(page, "the list", async () => (await found(page).count()) > 0);
    await page.keyboard.type("theme: dark");
    await says(page, found(page).first(), "Theme: dark");
    await page.keyboard.press("Enter");
    await until(page, "dark", async () => (await page.locator("html").getAttribute("data-theme")) === "dark");
  }));

test("single letters are changed, turned off, and kept", () =>
  onPage(browser, async (page) => {
    await write(page, TEXT);
    await scrubber(page).focus();
    await page.keyboard.press("?");
    const field = page.getByRole("textbox", { name: "Next rules" });
    await field.fill("q");
    await field.press("Enter");
    await says(page, page.locator("#over"), "at first l");
    // What buttons say of keys would be untrue: only the map says it now.
    assert.equal(await page.locator("#dock kbd").first().isVisible(), false);
    assert.equal(await page.locator(".keymap kbd").first().isVisible(), true);
    await page.keyboard.press("Escape");
    await scrubber(page).focus();
    const judged = () => page.getByRole("combobox", { name: /^Rules/ }).inputValue();
    await page.keyboard.press("l");
    assert.equal(await judged(), "numpy");
    await page.keyboard.press("q");
    await until(page, "other rules", async () => (await judged()) === "ggml");
    await page.reload();
    await says(page, page.locator(".saved"), "Saved");
    await scrubber(page).focus();
    await page.keyboard.press("q");
    await until(page, "other rules", async () => (await judged()) === "upstream");
    // Off: no letter does anything, and the way back is the question mark.
    await page.keyboard.press("?");
    await page.getByRole("button", { name: "Turn off" }).click();
    await says(page, page.locator(".letters .ways"), "Off");
    await page.keyboard.press("Escape");
    await scrubber(page).focus();
    await page.keyboard.press("q");
    await page.keyboard.press(".");
    assert.equal(await judged(), "upstream");
    await page.keyboard.press("?");
    await page.getByRole("button", { name: "As they were at first" }).click();
    await says(page, page.locator(".letters .ways"), "Turn off");
    assert.equal(await page.locator("#dock kbd").first().isVisible(), true);
    await page.keyboard.press("Escape");
    await scrubber(page).focus();
    await page.keyboard.press("l");
    await until(page, "other rules", async () => (await judged()) === "numpy");
  }));

test("square brackets walk the contributions to one gradient", () =>
  onPage(browser, async (page) => {
    await write(page, "rules numpy\nparam a [2] = 1\nb = a * 2\nc = a + b\nloss = sum(c * a)\n");
    await page.locator('#graph [aria-label*=" a,"]').first().focus();
    await page.keyboard.press(" ");
    const steps = new Set();
    for (let n = 0; n < 3; n += 1) {
      await page.keyboard.press("]");
      steps.add(await scrubber(page).getAttribute("aria-valuenow"));
    }
    assert.equal(steps.size, 3, "a has three consumers, and each of them its step");
    await page.keyboard.press("]");
    assert.ok(steps.has(await scrubber(page).getAttribute("aria-valuenow")), "they go round");
  }));

test("an edit makes its own lines anew and no others, and all have the right colours", () =>
  onPage(browser, async (page) => {
    let text = "rules numpy\nparam n0 [2] = 1\n";
    for (let ix = 1; ix < 40; ix += 1) text += `n${ix} = relu(n${ix - 1})\n`;
    await write(page, `${text}loss = sum(n39)\n`);
    await command(page, "first");
    const lines = () =>
      page.evaluate(() => {
        const lines = [...document.querySelectorAll("#program div.code > .ln")];
        const known = lines.filter((line) => line.known).length;
        for (const line of lines) line.known = true;
        const text = lines.map((line) => line.lastChild.textContent).join("\n");
        // Where the caret and the step are is no matter of colours.
        const markup = lines.map((line) => line.innerHTML).join("\n");
        return { n: lines.length, known, text, markup, now: document.querySelectorAll("#program .ln.now").length };
      });
    const saved = () => says(page, page.locator(".saved"), "Saved");
    await lines();
    const at = (line) =>
      program(page).evaluate((field, line) => {
        const byte = field.value.split("\n").slice(0, line).join("\n").length;
        field.setSelectionRange(byte, byte);
      }, line);
    // In a line, a new line, over the end of a line, and back.
    const edits = [
      [20, "+ 1", 1],
      [20, "\nm = n3", 30],
      [12, " # a < b & c", 1],
      [43, "\nb = 1", 5],
    ];
    for (const [line, typed, most] of edits) {
      await at(line);
      // At once: what is wrong on the way takes the shapes from the lines after it.
      await page.keyboard.insertText(typed);
      await saved();
      const now = await lines();
      assert.equal(now.text, await program(page).inputValue());
      assert.ok(now.n - now.known <= most, `${now.n - now.known} lines are new after ${typed}`);
      assert.equal(now.now, 1);
    }
    await page.keyboard.press("Control+z");
    await saved();
    const { text: shown, markup } = await lines();
    assert.equal(shown, await program(page).inputValue());
    await page.reload();
    await ready(page);
    await saved();
    assert.equal((await lines()).markup, markup);
  }));
