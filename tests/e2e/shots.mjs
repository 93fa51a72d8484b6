// Pictures of the page into `shots/`, for people to look at: `cargo xtask shots`.
import { mkdir } from "node:fs/promises";
import { launch, openPage, ready, url } from "./lib.mjs";
import { command, still, until } from "./page.mjs";

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
  { width: 320, height: 720 },
];

const THEMES = ["light", "dark"];

// One picture of each in every size and theme: a name, what follows the page's address, and what
// to do there before the picture is taken.
const SCENES = [
  { name: "start", at: "", act: async () => {} },
  { name: "calls", at: "", act: (page) => open(page, CALLS) },
  { name: "calls-closed", at: "", act: (page) => open(page, CALLS).then(() => closed(page)) },
  { name: "pinned", at: "", act: (page) => open(page, `${CALLS}\nlayout w 0 -260\nlayout r 4 -330\n`) },
  { name: "several", at: "", act: (page) => open(page, CALLS).then(() => several(page)) },
  { name: "large", at: "", act: (page) => open(page, large()) },
  { name: "too-large", at: "", act: tooLarge },
  { name: "proposals", at: "", act: proposals },
  ...["checks", "steps", "show-fold", "show-rules", "show-paths", "reference", "help", "documents", "draw new", "draw find"].map(
    (words) => ({ name: words.replace("show-", "").replace(" ", "-"), at: "", act: (page) => panel(page, words) }),
  ),
];

const ROUTER = `# Router
rules ggml
param w [2 token, 3 expert] = [[0.2, 0.3, 0.5], [1, 2, 1]]
s = sum_rows(w)
y = w / s
const g [2 token, 3 expert] = [[1, 0, 0], [1, 0, 0]]
loss = sum(y * g)
check fd
train sgd lr=0.1 steps=50
`;

const CALLS = `# Calls
rules numpy
fn router(w, e=1e-5) { s = sum_rows(w); c = clamp(s, min=e); return w / c }
param w [2, 3] = rand(seed=1)
r = router(w)
y = exp(r + 1)
loss = sum(y * r)
`;

/** Opens a text; on a narrow page its field is in another tab. */
async function open(page, text) {
  await page.evaluate((text) => {
    const editor = document.getElementById("text");
    editor.value = text;
    editor.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }, text);
  await until(page, "its graph", async () => (await page.locator("#graph .node").count()) > 6);
  await still(page);
}

/** What a command opens, with a router that trains. */
async function panel(page, words) {
  await open(page, ROUTER);
  await command(page, words);
  const place = words.startsWith("draw") ? "#draw .palette" : "#over .overbody > *";
  await page.locator(place).first().waitFor();
  await still(page);
}

async function proposals(page) {
  await page.evaluate(() => document.querySelector("[data-do='tab program']").click());
  await page.getByRole("textbox", { name: "Program text" }).focus();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("z = cl");
  await page.locator("#aid .aid").waitFor();
}

async function closed(page) {
  await page.locator("#graph .fn").first().dispatchEvent("click");
  await until(page, "the call closed", async () => (await page.locator("#graph .closed").count()) === 1);
  await still(page);
}

async function several(page) {
  const boxes = page.locator("#graph .node.fw [role=button]");
  await boxes.nth(0).dispatchEvent("click");
  await boxes.nth(1).dispatchEvent("click", { shiftKey: true });
  await boxes.nth(2).dispatchEvent("click", { shiftKey: true });
  await still(page);
}

function large() {
  let out = "# Large\nrules numpy\nparam n0 [2, 3] = rand(seed=1)\n";
  for (let i = 1; i < 120; i += 1) out += i % 3 === 0 ? `n${i} = n${i - 1} + n${i - 3}\n` : `n${i} = relu(n${i - 1})\n`;
  return `${out}loss = sum(n119)\n`;
}

async function tooLarge(page) {
  let text = "# Too large\nparam n0 = 1\n";
  for (let i = 1; i < 2100; i += 1) text += `n${i} = relu(n${i - 1})\n`;
  await page.evaluate((text) => {
    const editor = document.getElementById("text");
    editor.value = text;
    editor.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }, text);
  await page.locator("#graph .toomany").waitFor();
}

const folder = new URL("../../shots/", import.meta.url).pathname;
await mkdir(folder, { recursive: true });
const browser = await launch();
try {
  for (const colorScheme of THEMES) {
    for (const viewport of SIZES) {
      for (const { name, at, act } of SCENES) {
        const { page, complaints } = await openPage(browser, { colorScheme, viewport });
        await page.goto(new URL(at, url).href);
        await ready(page);
        await act(page);
        const file = `${name}-${viewport.width}x${viewport.height}-${colorScheme}.png`;
        await page.screenshot({ path: folder + file });
        console.log(`shots/${file}`);
        for (const complaint of complaints) console.log(`  the page complained: ${complaint}`);
        await page.context().close();
      }
    }
  }
} finally {
  await browser.close();
}
