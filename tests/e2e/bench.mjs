// How fast the page is, for people to read. While `cargo xtask serve --release` runs:
// FOLDBACK_URL=http://localhost:PORT/ FOLDBACK_CHROMIUM=/usr/bin/chromium node tests/e2e/bench.mjs
import { launch, openPage, ready, url } from "./lib.mjs";

const ROUNDS = 40;
const browser = await launch();
const { page } = await openPage(browser);
await page.goto(url);
await ready(page);

// From a keystroke in the editor to the frame after the graph has been mounted anew.
const keystrokes = await page.evaluate(async (rounds) => {
  const editor = document.getElementById("text");
  const graph = document.getElementById("graph");
  const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const mounted = new Promise((done) => {
      const observer = new MutationObserver(() => {
        observer.disconnect();
        done();
      });
      observer.observe(graph, { childList: true });
    });
    const start = performance.now();
    editor.value = editor.value.replace(/0\.\d+, 0\.3/, `0.${(round % 8) + 1}, 0.3`);
    editor.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await mounted;
    await frame();
    times.push(performance.now() - start);
    await frame();
  }
  return times;
}, ROUNDS);

// From a key on the scrubber to the classes being set, and to the frame after that.
const steps = await page.evaluate(async (rounds) => {
  const scrubber = document.getElementById("scrubber");
  scrubber.focus();
  const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
  const turn = () =>
    new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done();
      port2.postMessage(0);
    });
  const work = [];
  const paint = [];
  for (let round = 0; round < rounds * 3; round += 1) {
    await frame();
    const key = round % 60 < 30 ? "ArrowLeft" : "ArrowRight";
    const before = scrubber.getAttribute("aria-valuenow");
    const start = performance.now();
    scrubber.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, repeat: true }));
    // Rendering is queued as microtasks: after one turn all of it has been done. (A timer would add its own wait.)
    await turn();
    work.push(performance.now() - start);
    await frame();
    if (scrubber.getAttribute("aria-valuenow") !== before) paint.push(performance.now() - start);
  }
  return { work, paint };
}, ROUNDS);

// From the text to the end of what it asks for, as the panel of checks shows it.
const jobs = {
  "router, 2 experts: 1,000 training steps": [
    `rules ggml
param w [1, 2] = [[0.3, 0.2]]
y = w / clamp(sum_rows(w), min=6.103515625e-5)
loss = y[0, 0]
train sgd lr=0.001 steps=1000
`,
    "Done",
  ],
  "router, 1250 tokens: 10,000 differences": [
    `rules ggml
param w [1250, 8] = rand(seed=1, lo=0.1, hi=1)
const t [1250, 8] = rand(seed=2, lo=-1, hi=1)
y = w / clamp(sum_rows(w), min=6.103515625e-5)
loss = sum(y * t)
check fd
`,
    "10000 agree",
  ],
};
const ends = {};
await page.getByRole("button", { name: /^Checks/ }).first().click();
for (const [what, [text, end]] of Object.entries(jobs)) {
  ends[what] = [];
  for (let round = 0; round < 5; round += 1) {
    ends[what].push(
      await page.evaluate(
        async ([text, end]) => {
          const editor = document.getElementById("text");
          const start = performance.now();
          editor.value = text;
          editor.dispatchEvent(new InputEvent("input", { bubbles: true }));
          // The former answer may say the same: the new one says it after it has not.
          // Both may come within one frame, so every change is looked at.
          const over = document.getElementById("over");
          const says = () => over.innerText.includes(end);
          let was = false;
          const observer = new MutationObserver(() => (was ||= !says()));
          observer.observe(over, { childList: true, subtree: true, characterData: true });
          while (!(was && says())) {
            await new Promise((done) => requestAnimationFrame(() => done()));
          }
          observer.disconnect();
          return performance.now() - start;
        },
        [`${text}# ${round}\n`, end],
      ),
    );
  }
}

function report(what, times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  const [median, p95] = [at(0.5), at(0.95)].map((time) => time.toFixed(1).padStart(6));
  console.log(`${what.padEnd(44)} median ${median} ms   95 % ${p95} ms   n ${sorted.length}`);
}

report("keystroke to redrawn graph", keystrokes);
report("step: handler and rendering", steps.work);
report("step: to the next frame", steps.paint);
for (const [what, times] of Object.entries(ends)) report(what, times);
await browser.close();
