// The document: rules, history, files, what the browser keeps, and what is not text.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { launch, onPage, openPage, ready, url } from "./lib.mjs";
import { openExample, place, program, rules, scrubber, says, side, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("rules are switched in the text, and undone with it", () =>
  onPage(browser, async (page) => {
    const before = await program(page).inputValue();
    await rules(page).selectOption("ggml");
    await until(page, "rules ggml", async () =>
      (await program(page).inputValue()).includes("rules ggml"),
    );
    await says(page, page.locator("#side h2"), "Inspect");
    assert.match((await place(page)).text, /\d/);
    await page.getByRole("button", { name: "Undo" }).click();
    await says(page, side(page), "gradient-shape");
    assert.equal(await program(page).inputValue(), before);
    assert.equal(await rules(page).inputValue(), "upstream");
    await page.getByRole("button", { name: "Redo" }).click();
    await until(page, "rules ggml again", async () =>
      (await program(page).inputValue()).includes("rules ggml"),
    );
  }));

test("L goes on to the next rules where the stepper has the focus", () =>
  onPage(browser, async (page) => {
    await scrubber(page).focus();
    await page.keyboard.press("l");
    await until(page, "rules numpy", async () =>
      (await program(page).inputValue()).includes("rules numpy"),
    );
    await program(page).focus();
    await page.keyboard.type("l");
    assert.match(await program(page).inputValue(), /rules numpy/, "in a text field it is a letter");
  }));

test("typing is undone word by word, through the page's own history", () =>
  onPage(browser, async (page) => {
    const before = await program(page).inputValue();
    await program(page).focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("# one two");
    assert.equal(await program(page).inputValue(), `${before}# one two`);
    await page.keyboard.press("Control+z");
    assert.equal(await program(page).inputValue(), `${before}# one `);
    await page.keyboard.press("Control+z");
    await page.keyboard.press("Control+z");
    assert.equal(await program(page).inputValue(), before);
    await page.keyboard.press("Control+Shift+z");
    assert.equal(await program(page).inputValue(), `${before}# `);
  }));

test("Tab leaves the editor", () =>
  onPage(browser, async (page) => {
    await program(page).focus();
    await page.keyboard.press("Tab");
    const inEditor = await page.evaluate(() => document.activeElement.id === "text");
    assert.equal(inEditor, false);
  }));

test("a mistake in the text is told at once, and the last graph stays", () =>
  onPage(browser, async (page) => {
    const nodes = await page.locator("#graph .node").count();
    const text = await program(page).inputValue();
    await program(page).fill(text.replace("sum_rows(w)", "sum_rows(v)"));
    await says(page, page.locator("#complaint"), "Line 4");
    assert.equal(await page.locator("#graph .node").count(), nodes);
    await says(page, page.locator("#stage .head"), "of the last text that could be built");
    assert.equal(await page.locator(".squig, .hot").first().innerText(), "v");
    await program(page).fill(text);
    await until(page, "no complaint", async () =>
      (await page.locator("#complaint").innerText()) === "",
    );
  }));

for (const [what, text] of [
  ["a shape that does not broadcast", "rules numpy\nparam a [2,3] = ones\nparam b [3,2] = ones\nloss = sum(a + b)"],
  ["an unknown name", "loss = x"],
  ["a cycle", "a = b\nb = a\nloss = sum(a)"],
  ["a huge shape", "param a [100000, 100000] = 1\nloss = sum(a)"],
  ["deep nesting", `loss = ${"(".repeat(500)}1${")".repeat(500)}`],
  ["nothing", ""],
]) {
  test(`${what} is a diagnostic, not a crash`, () =>
    onPage(browser, async (page) => {
      await program(page).fill(text);
      await says(page, page.locator(".saved"), "Saved");
      assert.equal(await page.locator(".crash").count(), 0);
      if (text !== "") {
        await page.keyboard.press("F8");
        assert.ok((await side(page).locator("code").first().innerText()).length > 0);
      }
    }));
}

test("a document is saved as a file and opened again", () =>
  onPage(browser, async (page) => {
    const text = await program(page).inputValue();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save", exact: true }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "why-does-this-refuse-to-train.fold");
    assert.equal(await readFile(await download.path(), "utf8"), text);
    await page.locator("#file").setInputFiles({
      name: "other.fold",
      mimeType: "text/plain",
      buffer: Buffer.from("# Another\nrules numpy\nparam x = 3\nloss = x * x\n"),
    });
    await says(page, page.locator("h1"), "other");
    assert.match(await program(page).inputValue(), /^# Another\n/);
  }));

test("the text is there again after a reload", () =>
  onPage(browser, async (page) => {
    await program(page).fill("# Kept\nparam x = 2\nloss = x * x\n");
    await says(page, page.locator("h1"), "Kept");
    // No worker is being started any more: one that is torn away would be a failed request.
    await says(page, page.locator("#side"), "Elements");
    await page.reload();
    await ready(page);
    await says(page, page.locator("h1"), "Kept");
  }));

test("a theme is chosen, kept, and given back to the system", () =>
  onPage(browser, async (page) => {
    const canvas = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await canvas();
    const choose = async (name) => {
      await page.getByRole("button", { name: "Theme" }).click();
      await page.getByRole("button", { name, exact: true }).click();
    };
    await choose("Dark");
    const dark = await canvas();
    assert.notEqual(dark, light);
    await page.reload();
    await ready(page);
    assert.equal(await canvas(), dark);
    await choose("System");
    assert.equal(await canvas(), light);
  }));

test("the two-expert router agrees with its closed form", () =>
  onPage(browser, async (page) => {
    await openExample(page, "Two-expert router");
    await page.getByRole("button", { name: /^Checks/ }).last().click();
    const over = page.locator("#over");
    await says(page, over, "closed form");
    const rows = await over.locator(".mini").first().locator("tbody tr").allInnerTexts();
    const cells = rows.map((row) => row.split(/\s+/));
    assert.deepEqual(cells.map((row) => row[0]), ["w[0,0]", "w[0,1]"]);
    assert.deepEqual(cells.map((row) => row[1]), ["0.3", "0.2"]);
    // One step of SGD: w' = w - 0.1 (0.8, -1.2) = (0.22, 0.32), to the last digits of f32.
    assert.deepEqual(cells.map((row) => Number(row[3]).toFixed(6)), ["0.220000", "0.320000"]);
    // A step changes nothing here: the rows are those of the checks, not of the steps.
    await page.getByRole("button", { name: "Previous step" }).click();
    const verdicts = await over.locator(".chk").first().locator("tbody .v").allInnerTexts();
    assert.equal(verdicts.length, 2);
    for (const verdict of verdicts) assert.match(verdict, /agrees/);
    await says(page, over, /closed form, bit for bit|within \d+ ulp of the closed form/);
    assert.equal(await over.locator("svg.chart [stroke='var(--ok)']").count(), 1, "the loss curve");
  }));

test("the table of steps is the scrubber in words", () =>
  onPage(browser, async (page) => {
    const { max } = await place(page);
    await page.getByRole("button", { name: /^Steps/ }).last().click();
    const rows = page.locator("#over tbody tr");
    assert.equal(await rows.count(), max);
    await rows.nth(2).getByRole("button").click();
    assert.equal((await place(page)).now, 3);
    assert.equal(await rows.nth(2).getByRole("button").getAttribute("aria-current"), "step");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#over").count(), 0);
  }));

test("nothing is asked of the network once the page has loaded", () =>
  onPage(browser, async (page, { requests }) => {
    const asked = requests.length;
    await page.context().setOffline(true);
    await openExample(page, "Eight-expert router");
    await rules(page).selectOption("numpy");
    await page.getByRole("button", { name: /^Checks/ }).last().click();
    await says(page, page.locator("#over"), "agree");
    await page.getByRole("button", { name: "Keyboard map" }).click();
    await page.keyboard.press("Escape");
    // A worker is made of what the page holds already.
    const further = requests.slice(asked).filter((request) => !request.startsWith("blob:"));
    assert.deepEqual(further, []);
  }));

test("a browser without SIMD is told so by name", async () => {
  const { page } = await openPage(browser);
  await page.addInitScript(() => {
    WebAssembly.validate = () => false;
  });
  await page.goto(url);
  await says(page, page.getByRole("alert"), "WebAssembly SIMD");
  // The first picture is there all the same.
  assert.ok((await page.locator("#first .node").count()) > 3);
  await page.context().close();
});
