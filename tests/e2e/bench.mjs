// How fast the page is, for people to read. While `cargo xtask serve --release` runs:
// FOLDBACK_URL=http://localhost:PORT/ FOLDBACK_CHROMIUM=/usr/bin/chromium node tests/e2e/bench.mjs
import { readFile } from "node:fs/promises";
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

// Large graphs: text to answer, edit to diagnostics, frames while panning, interaction to paint, memory.
const graph = (n) => {
  let out = "# large\nrules numpy\nparam n0 [2, 3] = rand(seed=1)\n";
  for (let i = 1; i < n; i += 1) {
    out += i % 3 === 0 ? `n${i} = n${i - 1} + n${i - 3}\n` : `n${i} = relu(n${i - 1})\n`;
  }
  return `${out}loss = sum(n${n - 1})\n`;
};
const open = (text) =>
  page.evaluate(async (text) => {
    const editor = document.getElementById("text");
    editor.value = text;
    editor.dispatchEvent(new InputEvent("input", { bubbles: true }));
    const saved = document.querySelector(".saved");
    do await new Promise((done) => requestAnimationFrame(() => done()));
    while (!saved.innerText.startsWith("Saved"));
    await new Promise((done) => setTimeout(done, 300));
  }, text);
const large = {};
await page.keyboard.press("Escape");
await page.evaluate(() => document.querySelector("#over [data-do=graph]")?.click());
for (const n of [100, 500]) {
  large[`text to answer (analysis, layout, packing), ${n} nodes`] = await page.workers()[0].evaluate((text) => {
    const times = [];
    for (let round = 0; round < 10; round += 1) {
      const start = performance.now();
      wasm_bindgen.answer(text);
      times.push(performance.now() - start);
    }
    return times;
  }, graph(n));
}
for (const n of [40, 500]) {
  await open(graph(n - 3));
  large[`edit to diagnostics, ${n} lines`] = await page.evaluate(async () => {
    const editor = document.getElementById("text");
    const said = document.querySelector("#dock-first .count-pill");
    const text = editor.value;
    const times = [];
    for (let round = 0; round < 20; round += 1) {
      const was = said.innerText;
      const start = performance.now();
      editor.value = round % 2 === 0 ? text.replace("relu(n1)", "relu(nowhere)") : text;
      editor.dispatchEvent(new InputEvent("input", { bubbles: true }));
      while (said.innerText === was) await new Promise((done) => setTimeout(done));
      times.push(performance.now() - start);
      await new Promise((done) => setTimeout(done, 50));
    }
    return times;
  });
}
const figures = [];
for (const n of [300, 1000, 1900]) {
  await open(graph(n));
  for (const [far, zooms] of [["as it opens", 0], ["far away", 12]]) {
    for (let press = 0; press < zooms; press += 1) await page.getByRole("button", { name: "Zoom out" }).click();
    const { frames, inPage } = await page.evaluate(async () => {
      const pane = document.getElementById("graph");
      const send = (type, x) =>
        pane.dispatchEvent(
          new PointerEvent(type, { pointerId: 1, isPrimary: true, bubbles: true, button: 0, buttons: 1, clientX: x, clientY: 300 }),
        );
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const frames = [];
      send("pointerdown", 900);
      let last = await frame();
      for (let n = 0; n < 150; n += 1) {
        send("pointermove", 900 - n * 9);
        const now = await frame();
        frames.push(now - last);
        last = now;
      }
      send("pointerup", 0);
      return { frames, inPage: pane.querySelectorAll(".node").length };
    });
    large[`pan, ${n} nodes, ${far}: frame`] = frames;
    const mean = frames.reduce((sum, time) => sum + time, 0) / frames.length;
    figures.push(`pan, ${n} nodes, ${far}: ${(1000 / mean).toFixed(0)} frames a second, ${inPage} boxes in the page`);
  }
  await page.getByRole("button", { name: "Fit" }).click();
}
// From end to end and back, with all lines of the outline: to the paint of that frame, and one step beside it.
for (const n of [60, 500, 1900]) {
  await open(graph(n));
  const { jumps, singles, count } = await page.evaluate(async () => {
    const scrubber = document.getElementById("scrubber");
    scrubber.focus();
    const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
    const painted = () =>
      new Promise((done) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done();
        port2.postMessage(0);
      });
    const press = async (key) => {
      await new Promise((done) => setTimeout(done, 150));
      // Pressed within a frame, so that its style, layout and paint come before the next message.
      await frame();
      const start = performance.now();
      scrubber.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      await painted();
      return performance.now() - start;
    };
    const jumps = [];
    const singles = [];
    for (let round = 0; round < 30; round += 1) jumps.push(await press(round % 2 === 0 ? "Home" : "End"));
    for (let round = 0; round < 20; round += 1) singles.push(await press("ArrowLeft"));
    return { jumps, singles, count: scrubber.getAttribute("aria-valuemax") };
  });
  large[`jump to paint, ${count} steps (limit 100)`] = jumps;
  large[`one step to paint, ${count} steps`] = singles;
}
await open(graph(300));
large["interaction to next paint, 300 nodes"] = await page.evaluate(async () => {
  const times = [];
  const painted = () =>
    new Promise((done) =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done();
        port2.postMessage(0);
      }),
    );
  const act = async (does) => {
    await new Promise((done) => setTimeout(done, 40));
    const start = performance.now();
    does();
    await painted();
    times.push(performance.now() - start);
  };
  const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  document.querySelector("#graph .hit").focus();
  for (let round = 0; round < 20; round += 1) {
    const hits = document.querySelectorAll("#graph .hit");
    await act(() => hits[(round * 2) % hits.length].dispatchEvent(new MouseEvent("click", { bubbles: true })));
    await act(() => press("ArrowRight"));
    await act(() => document.querySelector("[data-do=back]").click());
    await act(() => document.querySelector("[data-do=zoom-out]").click());
    await act(() => document.querySelector("[data-do=zoom-in]").click());
  }
  return times;
});
await open(graph(500));
const system = await browser.newBrowserCDPSession();
const { processInfo } = await system.send("SystemInfo.getProcessInfo");
for (const { id } of processInfo.filter(({ type }) => type === "renderer")) {
  const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
  const anonymous = Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  figures.push(`memory, 500 nodes: ${anonymous.toFixed(0)} MB private to the page's process, its workers and the browser's own share`);
}
const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
figures.push(`memory, 500 nodes: ${(heap / 1048576).toFixed(1)} MB of JavaScript on the page`);

function report(what, times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  const [median, p75, p95] = [at(0.5), at(0.75), at(0.95)].map((time) => time.toFixed(1).padStart(6));
  console.log(`${what.padEnd(56)} median ${median} ms   75 % ${p75} ms   95 % ${p95} ms   n ${sorted.length}`);
}

report("keystroke to redrawn graph", keystrokes);
report("step: handler and rendering", steps.work);
report("step: to the next frame", steps.paint);
for (const [what, times] of Object.entries(ends)) report(what, times);
for (const [what, times] of Object.entries(large)) report(what, times);
for (const figure of figures) console.log(figure);
await browser.close();
