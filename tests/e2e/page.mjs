// The page as a person meets it: by role and name, and by keyboard.
import assert from "node:assert/strict";

/** The program's text. */
export const program = (page) => page.getByRole("textbox", { name: "Program text" });

/** The scrubber. */
export const scrubber = (page) => page.getByRole("slider", { name: "Step" });

/** The rules' select. */
export const rules = (page) => page.getByRole("combobox", { name: /^Rules/ });

/** The pane on the right. */
export const side = (page) => page.locator("#side");

/** Waits until `probe()`, awaited, is true of the page; it is asked after every frame. */
export async function until(page, what, probe) {
  const end = Date.now() + 15_000;
  while (!(await probe())) {
    if (Date.now() > end) assert.fail(`waited in vain for: ${what}`);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done())));
  }
}

/** Does what a control with this command does, whether one is in sight or not. */
export function command(page, words) {
  return page.evaluate((words) => {
    const button = document.createElement("button");
    button.dataset.do = words;
    document.getElementById("app").append(button);
    button.click();
    button.remove();
  }, words);
}

/** Lets so many frames pass. */
export function frames(page, n) {
  return page.evaluate(async (n) => {
    for (let frame = 0; frame < n; frame += 1) {
      await new Promise((done) => requestAnimationFrame(() => done()));
    }
  }, n);
}

/** Waits until the engine has read what there is, and nothing moves any more. */
export async function still(page) {
  await says(page, page.locator(".saved"), "Saved");
  await frames(page, 8);
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((one) => one.finished)));
}

/** Waits until an element says something. */
export function says(page, locator, text) {
  return until(page, `${locator} to say ${text}`, async () => {
    if ((await locator.count()) === 0) return false;
    const said = await locator.first().innerText();
    return typeof text === "string" ? said.includes(text) : text.test(said);
  });
}

/** Waits until the engine has read the text that the editor shows. */
export const settled = (page) =>
  says(page, page.locator(".saved, .doc"), /Saved on this device|^(?!Saving)/);

/** Where one stands: `{ now, max, text }`. */
export async function place(page) {
  const slider = scrubber(page);
  const [now, max, text] = await Promise.all(
    ["aria-valuenow", "aria-valuemax", "aria-valuetext"].map((name) => slider.getAttribute(name)),
  );
  return { now: Number(now), max: Number(max), text };
}

/** Presses F6 until the focus is in a pane, as somebody without a mouse would. */
export async function toPane(page, id) {
  for (let presses = 0; presses < 6; presses += 1) {
    const inside = await page.evaluate(
      (id) => document.getElementById(id).contains(document.activeElement),
      id,
    );
    if (inside) return;
    await page.keyboard.press("F6");
  }
  assert.fail(`F6 never reaches #${id}`);
}

/** Presses Tab until the name of the element with the focus begins so. */
export async function tabTo(page, name) {
  for (let presses = 0; presses < 60; presses += 1) {
    const found = await page.evaluate((name) => {
      const focused = document.activeElement;
      const said = focused?.getAttribute("aria-label") ?? focused?.textContent ?? "";
      return said.trim().startsWith(name);
    }, name);
    if (found) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab never reaches ${name}`);
}

/** Opens an example by its name. */
export async function openExample(page, name) {
  await page.getByRole("button", { name: "Examples" }).click();
  await page.getByRole("button", { name }).click();
  await says(page, page.locator("h1"), name);
}
