// How fast the page is there, for people to read: on a desk, and on slow 4G with a quarter of the processor. While
// `cargo xtask serve --release` runs:
// FOLDBACK_URL=http://localhost:PORT/ FOLDBACK_CHROMIUM=/usr/bin/chromium node tests/e2e/bench-start.mjs
import { launch, openPage, ready, url } from "./lib.mjs";

const ROUNDS = 5;

/** Bytes a second and milliseconds, as Lighthouse has them. */
const SLOW = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 };

const browser = await launch();
for (const [name, network, slowdown] of [
  ["on a desk", null, 1],
  ["slow 4G, a quarter of the processor", SLOW, 4],
]) {
  const times = { "first picture": [], "largest picture": [], "one can step": [], "memory, MB": [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const { page } = await openPage(browser);
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    if (network) await session.send("Network.emulateNetworkConditions", network);
    await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    await page.addInitScript(() => {
      new PerformanceObserver((list) => {
        window.largest = list.getEntries().at(-1).startTime;
      }).observe({ type: "largest-contentful-paint", buffered: true });
      const mark = () => {
        if (document.documentElement?.dataset.state === "ready") window.there ??= performance.now();
        else requestAnimationFrame(mark);
      };
      mark();
    });
    await page.goto(url);
    await ready(page);
    const said = await page.evaluate(async () => {
      const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN;
      const memory = performance.memory?.usedJSHeapSize ?? NaN;
      return [paint, window.largest ?? NaN, window.there, memory / 1e6];
    });
    Object.values(times).forEach((list, ix) => list.push(said[ix]));
    await page.context().close();
  }
  console.log(name);
  for (const [what, list] of Object.entries(times)) {
    const sorted = list.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)];
    console.log(`  ${what.padEnd(20)} median ${median.toFixed(1).padStart(8)}   most ${sorted.at(-1).toFixed(1).padStart(8)}`);
  }
}
await browser.close();
