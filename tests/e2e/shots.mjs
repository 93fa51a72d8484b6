// Pictures of the page into `shots/`, for people to look at: `cargo xtask shots`.
import { mkdir } from "node:fs/promises";
import { launch, openPage, ready, url } from "./lib.mjs";

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
  { width: 320, height: 720 },
];

const THEMES = ["light", "dark"];

// One picture of each in every size and theme: a name, what follows the page's address, and what
// to do there before the picture is taken.
const SCENES = [{ name: "start", at: "", act: async () => {} }];

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
