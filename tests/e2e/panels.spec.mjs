// Panels of the whole engine: the fold, rules side by side, paths, the reference, what one takes along of a node.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, openPage, ready, url } from "./lib.mjs";
import { program, says, scrubber, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const bias = `# a bias
rules numpy
const X [3 row, 2] = [[0, 0], [0, 0], [0, 0]]
param b [2] = [0, 0]
y = X + b
loss = sum(y * [[1, 2], [3, 4], [5, 6]])
check fd
`;

const over = (page) => page.locator("#over");
const side = (page) => page.locator("#side");

async function open(page, text) {
  await program(page).fill(text);
  await says(page, page.locator(".saved"), "Saved");
}

/** Steps to the fold of the bias by keys alone. */
async function toFold(page) {
  await scrubber(page).focus();
  await page.keyboard.press("Home");
  await until(page, "the fold", async () => {
    await page.keyboard.press(".");
    return (await page.locator("#stepper .say").textContent()).startsWith("Fold ");
  });
}

const landed = async (page) => Number(await over(page).locator(".landed").textContent());

test("a fold is watched, scrubbed by keys and by pointer, and told in words", () =>
  onPage(browser, async (page) => {
    await open(page, bias);
    await toFold(page);
    await page.keyboard.press("f");
    await says(page, over(page), "Stretch");
    await says(page, over(page), "Add");
    const slider = over(page).getByRole("slider");
    await slider.focus();
    await page.keyboard.press("ArrowLeft");
    assert.equal(await landed(page), 2);
    assert.match(await slider.getAttribute("aria-valuetext"), /2 of 3 have landed; db a = 4; db b = 6/);
    // Of the totals that stand one behind the other the right one is seen.
    const total = () =>
      page.evaluate(() => {
        const seen = [...document.querySelectorAll("#over .sum:first-of-type b, #over .sum b")];
        return seen.filter((b) => Number(getComputedStyle(b).opacity) > 0.5).map((b) => b.textContent);
      });
    await until(page, "the totals of two pages", async () => (await total()).join() === "4,6");
    await over(page).getByRole("button", { name: "Fold one page more" }).click();
    assert.equal(await landed(page), 3);
    await until(page, "the totals of all", async () => (await total()).join() === "9,12");
    const box = await slider.boundingBox();
    await page.mouse.click(box.x + 2, box.y + box.height / 2);
    assert.ok((await landed(page)) < 0.5);
    await page.keyboard.press("Escape");
    await until(page, "the graph", async () => (await over(page).count()) === 0);
  }));

test("with reduced motion the fold stands whole, as a storyboard", () =>
  onPage(
    browser,
    async (page) => {
      await open(page, bias);
      await toFold(page);
      await page.keyboard.press("f");
      await says(page, over(page), "Stretch");
      const t = await page.evaluate(() => getComputedStyle(document.querySelector("#over .fold")).getPropertyValue("--t"));
      assert.equal(Number(t), 3);
    },
    { reducedMotion: "reduce" },
  ));

test("rules side by side name the refusals, and one of them is chosen there", () =>
  onPage(browser, async (page) => {
    await page.getByRole("button", { name: "Compare rules" }).click();
    await says(page, over(page), "gradient-shape");
    await says(page, over(page), "no-backward");
    await over(page).getByRole("button", { name: "Judge by numpy" }).click();
    await until(page, "the rules", async () => (await page.locator("#rules").inputValue()) === "numpy");
    assert.match(await program(page).inputValue(), /^rules numpy$/m);
  }));

test("a path that is left out of the ledger shows the wrong answer", () =>
  onPage(browser, async (page) => {
    await open(page, "rules numpy\nparam x = 3\ny = x * x\nloss = y + x\n");
    await page.getByRole("button", { name: /^x param/ }).click();
    await scrubber(page).focus();
    await page.keyboard.press("p");
    await says(page, over(page), "several gradients come back to it");
    const sum = over(page).locator("tr.sum td").last();
    assert.equal(await sum.textContent(), "7");
    await over(page).getByRole("checkbox").first().click();
    await says(page, over(page), "wrong");
    const wrong = over(page).locator("tr.wrong td").nth(1);
    assert.notEqual(await wrong.textContent(), "7");
    assert.equal(await sum.textContent(), "7");
  }));

test("the reference finds an op, and its example opens", () =>
  onPage(browser, async (page) => {
    await page.getByRole("button", { name: "Reference" }).click();
    const find = over(page).getByRole("searchbox");
    await find.fill("divides");
    await until(page, "one op", async () => (await over(page).locator(".refs .link").count()) === 1);
    await says(page, over(page).locator(".refs").first(), "a / b");
    assert.equal(await page.evaluate(() => document.activeElement.value), "divides");
    await over(page).getByRole("button", { name: "div", exact: true }).click();
    await says(page, over(page), "GGML_OP_DIV");
    await over(page).getByRole("button", { name: "Open", exact: true }).nth(1).click();
    await says(page, page.locator(".saved"), "Saved");
    assert.match(await program(page).inputValue(), /y = a \/ b/);
    await says(page, side(page), "div");
  }));

test("the next step is predicted: a wrong shape is crossed out, the right one asks for its number", () =>
  onPage(browser, async (page) => {
    await open(page, bias);
    await scrubber(page).focus();
    await page.keyboard.press("Home");
    await page.getByRole("button", { name: "Predict" }).click();
    await scrubber(page).focus();
    const quiz = page.locator("#quiz");
    await until(page, "a question", async () => {
      if ((await quiz.locator(".quiz").count()) > 0) return true;
      await page.keyboard.press("ArrowRight");
      return false;
    });
    const step = await page.locator("#stepper .count").textContent();
    await says(page, quiz, "Which shape comes next?");
    await quiz.getByRole("button", { name: "[]", exact: true }).click();
    await until(page, "it to be crossed out", async () => (await quiz.locator("s").textContent()) === "[]");
    await quiz.getByRole("button", { name: "[3,2]", exact: true }).click();
    await says(page, quiz, "first element");
    await quiz.getByRole("textbox").fill("7");
    await quiz.getByRole("textbox").press("Enter");
    await says(page, quiz, "Not that");
    await quiz.getByRole("textbox").fill("1");
    await quiz.getByRole("textbox").press("Enter");
    await says(page, quiz, "Right, 1");
    assert.equal(await page.locator("#stepper .count").textContent(), step, "nothing was shown yet");
    await quiz.getByRole("button", { name: "Show it" }).click();
    await until(page, "the step", async () => (await page.locator("#stepper .count").textContent()) !== step);
    assert.equal(await quiz.locator(".quiz").count(), 0);
  }));

test("an example opens whatever the text is, and says what to look for", () =>
  onPage(browser, async (page) => {
    await program(page).fill("this is (no program");
    await page.getByRole("button", { name: "Examples" }).click();
    await page.getByRole("button", { name: /Tile against interleave/ }).click();
    await until(page, "the text", async () => (await program(page).inputValue()).includes("repeat_interleave"));
    await says(page, page.locator(".saved"), "Saved");
  }));

test("a node's elements are saved as NumPy writes them", () =>
  onPage(browser, async (page) => {
    await open(page, bias);
    await page.getByRole("button", { name: /^b param/ }).click();
    await until(page, "its own panel", async () => (await side(page).getByLabel("name").inputValue()) === "b");
    const download = page.waitForEvent("download");
    await side(page).getByRole("button", { name: "Save as .npy" }).click();
    const file = await download;
    assert.equal(file.suggestedFilename(), "b.npy");
    const chunks = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    assert.equal(bytes.subarray(1, 6).toString(), "NUMPY");
    assert.equal(bytes.length % 64, 8, "a header of whole lines, and two numbers");
  }));

test("the panels' worker breaks and the page goes on", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${url}?fault`);
  await ready(page);
  await open(page, `${bias}# panel fault: trap\n`);
  await says(page, side(page), "could not be made");
  await open(page, bias);
  await says(page, side(page), "As mathematics");
  await page.context().close();
});
