// Drawing writes text: by keys alone, by mouse, and what is refused says why.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, seriousFindings } from "./lib.mjs";
import { program, says, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const list = (page) => page.locator("#draw");
const text = (page) => program(page).inputValue();
const lines = (page) => list(page).getByRole("option");
const saved = (page) => says(page, page.locator(".saved"), "Saved");

async function open(page, source) {
  await program(page).fill(source);
  await saved(page);
  await page.locator("#graph [data-node]").first().waitFor();
}

/** The node with the focus and the keys, by its name. */
async function stand(page, name) {
  await page.locator(`#graph [aria-label*=" ${name},"]`).first().focus();
  await page.keyboard.press(" ");
}

/** Types ahead in the open list and takes its first line. */
async function take(page, query, first) {
  await until(page, "the list", async () => (await lines(page).count()) > 0);
  await page.keyboard.type(query);
  await until(page, `${first} first`, async () =>
    ((await lines(page).first().textContent()) ?? "").startsWith(first),
  );
  await page.keyboard.press("Enter");
  await until(page, "the list to close", async () => (await list(page).locator(".palette").count()) === 0);
  await saved(page);
}

test("the router's division is drawn by keys alone, and its loss trains", () =>
  onPage(browser, async (page) => {
    await open(page, "# drawn by hand\nrules numpy\nparam w [2 token, 3 expert] = [[0.2, 0.3, 0.5], [1, 2, 1]]\n");
    await stand(page, "w");
    await page.keyboard.press("n");
    await take(page, "sum_rows", "sum_rows");
    assert.match(await text(page), /^# drawn by hand\nrules numpy\n/);
    assert.match(await text(page), /= sum_rows\(w\)/);
    await stand(page, "w");
    await page.keyboard.press("n");
    await take(page, "div", "div");
    assert.match(await text(page), /= w \/ \?/);
    await until(page, "an open node", async () =>
      (await page.locator("#graph .node").allTextContents()).some((node) => node.includes("?")),
    );
    const sum = /(\w+) = sum_rows/.exec(await text(page))[1];
    await stand(page, sum);
    await page.keyboard.press("c");
    await take(page, "", /(\w+) = w \//.exec(await text(page))[1]);
    assert.match(await text(page), new RegExp(`= w / ${sum}`));
    const quotient = /(\w+) = w \//.exec(await text(page))[1];
    await stand(page, quotient);
    await page.keyboard.press("n");
    await take(page, "sum", "sum");
    // One step of undo a gesture, back to the first text.
    for (let n = 0; n < 4; n += 1) await page.keyboard.press("Control+z");
    await saved(page);
    assert.equal((await text(page)).includes("sum"), false);
  }));

test("a wire is drawn with the pointer, and where it does not fit the reason is said", () =>
  onPage(browser, async (page) => {
    await open(page, "rules numpy\nparam a [2, 3] = 1\nparam b [4] = 1\nparam c [2, 1] = 2\ny = a / ?\n");
    const grip = async (name) => {
      const node = page.locator(`#graph .node:has([aria-label*=" ${name},"])`);
      const box = await node.locator(".grip").boundingBox();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    };
    const drop = async (name) => {
      const box = await page.locator(`#graph [aria-label*=" ${name},"]`).boundingBox();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    };
    const wire = async (from, to) => {
      const [start, end] = [await grip(from), await drop(to)];
      await page.mouse.move(start.x, start.y);
      await page.mouse.down();
      await page.mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 4 });
      assert.equal(await page.locator("#graph .wire").count(), 1);
      await page.mouse.move(end.x, end.y, { steps: 4 });
      await page.mouse.up();
    };
    await wire("b", "y");
    await says(page, list(page), "input 2");
    await until(page, "a reason", async () =>
      (await lines(page).allTextContents()).some((line) => /3 .*4|4 .*3/.test(line)),
    );
    assert.deepEqual(await seriousFindings(page), []);
    await page.keyboard.press("Escape");
    await wire("c", "y");
    await lines(page).filter({ hasText: "input 2" }).click();
    await saved(page);
    assert.match(await text(page), /y = a \/ c/);
  }));

test("a node is renamed, given another value, duplicated and deleted", () =>
  onPage(browser, async (page) => {
    await open(page, "rules numpy\nparam x [2] = [1, 2] # a comment\ny = x * x\nloss = sum(y)\n");
    await stand(page, "x");
    const side = page.locator("#side");
    await side.getByLabel("name").fill("weights");
    await side.getByLabel("name").press("Enter");
    await until(page, "the name", async () => (await text(page)).includes("y = weights * weights"));
    await saved(page);
    assert.match(await text(page), /# a comment/);
    await until(page, "its own field", async () => (await side.getByLabel("name").inputValue()) === "weights");
    await side.getByLabel("value").fill("[5, 6]");
    await side.getByLabel("value").press("Enter");
    await until(page, "the value", async () => (await text(page)).includes("= [5, 6]"));
    await side.getByLabel("name").fill("y");
    await side.getByLabel("name").press("Enter");
    await says(page, page.locator("#drawn"), "y");
    await stand(page, "loss");
    await page.keyboard.press("d");
    await until(page, "a copy", async () => (await text(page)).split("sum(y)").length === 3);
    await saved(page);
    await stand(page, "y");
    await page.keyboard.press("Delete");
    await until(page, "an open input", async () => (await text(page)).includes("sum(?)"));
  }));

test("an output is connected by two clicks and a choice, and what does not fit says why", () =>
  onPage(browser, async (page) => {
    await open(page, "rules numpy\nparam w [2, 3] = 1\nparam c [2, 1] = 1\nparam b [5] = 1\ny = w / ?\n");
    const grip = async (name) => {
      const node = await page.locator(`#graph [aria-label*=" ${name},"]`).first().getAttribute("data-node");
      await page.locator(`#graph .grip[data-from="${node}"]`).click();
      await until(page, "the list", async () => (await lines(page).count()) > 0);
    };
    const press = (name) => page.locator(`#graph [aria-label*=" ${name},"]`).first().dispatchEvent("click");
    await grip("b");
    await press("y");
    await until(page, "the inputs of y alone", async () =>
      (await lines(page).allInnerTexts()).every((line) => line.startsWith("y input")),
    );
    const refused = lines(page).filter({ has: page.locator(".t-refuse") });
    assert.ok((await refused.count()) > 0, "five do not go beside three");
    assert.match(await refused.first().locator(".says").innerText(), /\w+ \w+/, "and it says why");
    await page.keyboard.press("Escape");
    await grip("c");
    await press("y");
    await until(page, "the inputs of y alone", async () =>
      (await lines(page).allInnerTexts()).every((line) => line.startsWith("y input")),
    );
    await lines(page).filter({ hasText: "y input 2" }).click();
    await until(page, "connected", async () => (await text(page)).includes("y = w / c"));
  }));

test("from an empty document to a passing check by keys alone", () =>
  onPage(browser, async (page) => {
    // F6 leads from pane to pane; the first is the program.
    await page.keyboard.press("F6");
    await until(page, "the editor", () => page.evaluate(() => document.activeElement?.id === "text"));
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.type("rules numpy\nparam x [2] = [3, 4]\nloss = sum(x * x)\ncheck fd\n");
    await saved(page);
    await until(page, "the dock", async () => {
      if (await page.evaluate(() => document.activeElement?.closest("#dock") !== null)) return true;
      await page.keyboard.press("F6");
      return false;
    });
    await until(page, "the checks' button", async () => {
      if (await page.evaluate(() => document.activeElement?.id === "dock-checks")) return true;
      await page.keyboard.press("Tab");
      return false;
    });
    await page.keyboard.press("Enter");
    await says(page, page.locator("#over"), "2 agree");
    await says(page, page.locator("#over"), "0 differ");
  }));
