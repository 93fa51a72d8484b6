// The canvas: boxes are moved and pinned, several are selected, calls close, large graphs stay quick; all of it by
// pointer, by touch and by keys.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, ready, seriousFindings } from "./lib.mjs";
import { frames, program, says, toPane, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const text = (page) => program(page).inputValue();
const saved = (page) => says(page, page.locator(".saved"), "Saved");
const live = (page) => page.locator("#live");
const node = (page, name) => page.locator(`#graph [role=button][aria-label*=" ${name},"]`).first();

async function open(page, source) {
  await program(page).fill(source);
  await saved(page);
  await page.locator("#graph [data-node]").first().waitFor();
}

/** The node has the focus and is selected. */
async function stand(page, name) {
  await node(page, name).focus();
  await page.keyboard.press(" ");
}

/** Where a node's box is in the picture, whatever the zoom. */
async function place(page, name) {
  const at = await node(page, name).evaluate((hit) => hit.parentElement.getAttribute("transform"));
  const [, x, y] = /\((\S+) (\S+)\)/.exec(at).map(Number);
  return { x, y };
}

const zoom = async (page) =>
  Number(/scale\((\S+)\)/.exec(await page.locator("#graph .camera").getAttribute("transform"))[1]);

async function middle(locator) {
  const box = await locator.boundingBox();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drag(page, from, to, upTo = () => page.mouse.up()) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 3 });
  await page.mouse.move(to.x, to.y, { steps: 3 });
  await upTo();
}

const pin = async (page, name) => new RegExp(`^layout ${name} (\\S+) (\\S+)$`, "m").exec(await text(page))?.slice(1).map(Number);
const pressed = (page) => page.locator("#graph [aria-pressed=true]");

const SMALL = `# a small graph
rules numpy
param w [2, 3] = rand(seed=1)
param v [2, 3] = rand(seed=2)
a = exp(w)
b = relu(v)
y = a * b
loss = sum(y)
`;

test("a box is moved by the pointer: one step of undo, and Esc lets it go", () =>
  onPage(browser, async (page) => {
    await open(page, SMALL);
    const before = await middle(node(page, "a"));
    const [stood, other, near] = [await place(page, "a"), await place(page, "b"), await zoom(page)];
    // A press without a way selects and moves nothing.
    await page.mouse.click(before.x, before.y);
    assert.equal(await text(page), SMALL);
    await drag(page, before, { x: before.x + 5, y: before.y - 60 }, async () => {
      assert.equal(await page.locator("#graph .wire").count(), 1);
      await page.keyboard.press("Escape");
      assert.equal(await page.locator("#graph .wire").count(), 0);
      await page.mouse.up();
    });
    assert.equal(await text(page), SMALL);
    await drag(page, before, { x: before.x + 5, y: before.y - 60 });
    await until(page, "a pin", async () => (await pin(page, "a")) !== undefined);
    await saved(page);
    await until(page, "the box higher up", async () => {
      const [at, b] = [await place(page, "a"), await place(page, "b")];
      return Math.abs(at.y - b.y - (stood.y - other.y) + 60 / near) < 4;
    });
    assert.match(await node(page, "a").getAttribute("aria-label"), /pinned/);
    assert.match(await text(page), /^# a small graph\n/);
    await page.keyboard.press("Control+z");
    await until(page, "the first text", async () => (await text(page)) === SMALL);
  }));

test("a box is moved by keys and by buttons, and given free", () =>
  onPage(browser, async (page) => {
    await open(page, SMALL);
    await stand(page, "a");
    await page.keyboard.press("Alt+ArrowUp");
    await until(page, "a pin", async () => (await pin(page, "a")) !== undefined);
    await saved(page);
    const [column, y] = await pin(page, "a");
    // The focus has come back to the box, so the next key moves it on.
    await until(page, "the focus", () => page.evaluate(() => document.activeElement?.getAttribute("aria-label")?.includes(" a,")));
    await page.keyboard.press("Alt+ArrowRight");
    await until(page, "another column", async () => (await pin(page, "a"))?.[0] === column + 1);
    await saved(page);
    const side = page.locator("#side");
    await side.getByRole("button", { name: "Move down" }).click();
    await until(page, "it lower", async () => (await pin(page, "a"))?.[1] === y + 20);
    await saved(page);
    await stand(page, "b");
    await page.keyboard.press("Alt+ArrowUp");
    await until(page, "another pin", async () => (await pin(page, "b")) !== undefined);
    await saved(page);
    await stand(page, "a");
    await page.keyboard.press("u");
    await until(page, "a free", async () => (await pin(page, "a")) === undefined && (await pin(page, "b")) !== undefined);
    await saved(page);
    await side.getByRole("button", { name: "Unpin all" }).click();
    await until(page, "none pinned", async () => !(await text(page)).includes("layout"));
  }));

test("several are selected by click, by keys and by a frame, and told", () =>
  onPage(browser, async (page) => {
    await open(page, SMALL);
    await node(page, "w").click();
    await node(page, "b").click({ modifiers: ["Shift"] });
    await says(page, live(page), "2 nodes selected: w, b");
    await node(page, "y").click({ modifiers: ["Control"] });
    await says(page, live(page), "3 nodes selected: w, b, y");
    assert.equal(await pressed(page).count(), 3);
    await node(page, "b").click({ modifiers: ["Shift"] });
    await says(page, live(page), "2 nodes selected: w, y");
    await page.keyboard.press("Escape");
    assert.equal(await pressed(page).count(), 0);

    await stand(page, "w");
    await page.keyboard.press("Shift+ArrowRight");
    await says(page, live(page), "2 nodes selected: w, a");
    await node(page, "v").focus();
    await page.keyboard.press("Shift+Space");
    await says(page, live(page), "3 nodes selected");
    await page.locator("#side").getByRole("button", { name: "Add consumers" }).click();
    await says(page, live(page), "5 nodes selected");
    await node(page, "w").focus();
    await page.keyboard.press("Control+a");
    await says(page, live(page), "6 nodes selected");
    await page.keyboard.press("Escape");

    // A frame around a and b, from the ground.
    const [a, b] = [await node(page, "a").boundingBox(), await node(page, "b").boundingBox()];
    const top = Math.min(a.y, b.y) - 8;
    const bottom = Math.max(a.y + a.height, b.y + b.height) + 8;
    await page.keyboard.down("Shift");
    await drag(page, { x: a.x - 6, y: top }, { x: a.x + a.width + 6, y: bottom });
    await page.keyboard.up("Shift");
    await says(page, live(page), "2 nodes selected");
    assert.deepEqual(await seriousFindings(page), []);
  }, { bypassCSP: true }));

test("what is selected is grouped, copied, cut, pasted, duplicated and deleted, and all of it is undone", () =>
  onPage(
    browser,
    async (page) => {
      await open(page, SMALL);
      const both = async (one, other) => {
        await node(page, one).click();
        await node(page, other).click({ modifiers: ["Shift"] });
        await says(page, live(page), "2 nodes selected");
      };
      await both("a", "y");
      await page.keyboard.press("Control+g");
      await until(page, "a function", async () => /^fn f\(w, b\)/m.test(await text(page)) || /^fn f\(/m.test(await text(page)));
      await saved(page);
      assert.match(await text(page), /y = f\(/);
      await stand(page, "y");
      await page.keyboard.press("Control+Shift+g");
      await until(page, "no function", async () => !(await text(page)).includes("fn f"));
      await saved(page);
      await page.keyboard.press("Control+z");
      await until(page, "the function again", async () => (await text(page)).includes("fn f"));
      await page.keyboard.press("Control+z");
      await until(page, "the first text", async () => (await text(page)) === SMALL);
      await saved(page);

      await both("a", "b");
      await page.keyboard.press("Control+d");
      await until(page, "copies", async () => (await text(page)).split("exp(w)").length === 3);
      await saved(page);
      assert.equal(await pressed(page).count(), 2, "the copies are selected");
      await page.keyboard.press("Control+z");
      await until(page, "the first text", async () => (await text(page)) === SMALL);
      await saved(page);

      await both("w", "a");
      await page.keyboard.press("Control+x");
      await until(page, "them gone", async () => !(await text(page)).includes("exp(w)"));
      await saved(page);
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /param w \[2, 3\] = rand\(seed=1\)\na = exp\(w\)/);
      assert.match(await text(page), /y = \? \* b/);
      await node(page, "b").focus();
      await page.keyboard.press("Control+v");
      await until(page, "them again", async () => (await text(page)).includes("exp(w)"));
      await saved(page);
      // Typing, drawing and undoing share one history.
      await program(page).focus();
      await page.keyboard.press("Control+End");
      await page.keyboard.type("z = exp(b)\n");
      await saved(page);
      await stand(page, "z");
      await page.keyboard.press("Delete");
      await until(page, "z gone", async () => !(await text(page)).includes("z ="));
      await saved(page);
      await until(page, "the first text", async () => {
        if ((await text(page)) !== SMALL) await page.keyboard.press("Control+z");
        return (await text(page)) === SMALL;
      });
    },
    { permissions: ["clipboard-read", "clipboard-write"] },
  ));

const CALLS = `# calls
rules numpy
fn router(w, e=1e-5) { s = sum_rows(w); c = clamp(s, min=e); return w / c }
param w [2, 3] = rand(seed=1)
r = router(w)
loss = sum(r * r)
`;

test("a call is closed and opened by key, by its sign and by a button, and opens for what is inside", () =>
  onPage(browser, async (page) => {
    await open(page, CALLS);
    const boxes = page.locator("#graph .node");
    const whole = await boxes.count();
    await stand(page, "r");
    await page.keyboard.press("g");
    await until(page, "fewer boxes", async () => (await boxes.count()) < whole - 3);
    await says(page, live(page), "r closed");
    const shut = await boxes.count();
    assert.match(await node(page, "r").getAttribute("aria-label"), /^closed fn router r, shape 2 by 3, input w, 3 nodes/);
    assert.equal(await node(page, "r.s").count(), 0);
    // The view is no text, and nothing moves while one steps through it.
    assert.equal(await text(page), CALLS);
    await saved(page);
    const places = () => boxes.evaluateAll((all) => all.map((box) => box.getAttribute("transform")).join());
    const before = await places();
    for (let n = 0; n < 12; n += 1) await page.getByRole("button", { name: "Previous step" }).click();
    assert.equal(await places(), before);
    await until(page, "a step inside of the call", async () => {
      await page.getByRole("button", { name: "Next step" }).click();
      return /, this step$/.test((await page.locator("#graph .node.current [role=button]").getAttribute("aria-label")) ?? "");
    });
    // From the outline one goes to a node inside: the call opens for it.
    await page.getByRole("list", { name: "Outline" }).getByRole("button", { name: /^r\.s/ }).click();
    await until(page, "the call open", async () => (await node(page, "r.s").count()) === 1);
    await until(page, "r.s selected", async () => (await node(page, "r.s").getAttribute("aria-pressed")) === "true");
    await page.locator("#graph .fn").first().click();
    await until(page, "the call closed", async () => (await boxes.count()) === shut);
    await page.locator("#side").getByRole("button", { name: /^Open r/ }).click();
    await until(page, "the call open", async () => (await boxes.count()) === whole);
    assert.deepEqual(await seriousFindings(page), []);
  }, { bypassCSP: true }));

/** A chain of so many nodes with branches. */
const long = (n) => {
  let out = "# large\nrules numpy\nparam n0 [2, 3] = rand(seed=1)\n";
  for (let i = 1; i < n; i += 1) {
    out += i % 3 === 0 ? `n${i} = n${i - 1} + n${i - 3}\n` : `n${i} = exp(n${i - 1} * 0.01)\n`;
  }
  return `${out}loss = sum(n${n - 1})\n`;
};

test("of a large graph only what is in sight is in the page, and the outline has all of it", () =>
  onPage(browser, async (page) => {
    await open(page, long(400));
    const boxes = page.locator("#graph .node");
    await until(page, "some boxes", async () => (await boxes.count()) > 5 && (await boxes.count()) < 300);
    const here = await boxes.first().getAttribute("transform");
    assert.ok((await page.getByRole("list", { name: "Outline" }).getByRole("button").count()) > 400);
    // Walking brings the next ones, and the focus stays in the graph.
    await stand(page, "n3");
    for (let n = 0; n < 40; n += 1) await page.keyboard.press("ArrowRight");
    await until(page, "the node walked to", () =>
      page.evaluate(() => {
        const at = document.activeElement?.closest("#graph .hit")?.getBoundingClientRect();
        const pane = document.getElementById("graph").getBoundingClientRect();
        return at && at.left >= pane.left && at.right <= pane.right;
      }),
    );
    assert.ok((await boxes.count()) < 400, `${await boxes.count()} boxes`);
    assert.ok(here);
  }));

test("after a jump every line of the outline is right at once, and is the same element", () =>
  onPage(browser, async (page) => {
    await open(page, long(600));
    const outline = page.getByRole("list", { name: "Outline" });
    await outline.getByRole("button").nth(5).focus();
    // What the outline says in the very turn of the last command, before anything is painted.
    const after = (...commands) =>
      page.evaluate(async (commands) => {
        const list = document.querySelector("#program .outline");
        const held = document.activeElement;
        const lines = [...list.children];
        for (const does of commands) {
          const button = document.createElement("button");
          button.dataset.do = does;
          document.getElementById("app").append(button);
          button.click();
          button.remove();
        }
        await new Promise((done) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => done();
          port2.postMessage(0);
        });
        const kept = lines.length === list.children.length && lines.every((line, ix) => line === list.children[ix]);
        return {
          kept: kept && document.activeElement === held,
          markup: list.innerHTML,
          says: [...list.querySelectorAll(".st")].map((word) => word.textContent),
          here: [...list.querySelectorAll("[aria-current=true] .nm")].map((name) => name.textContent),
        };
      }, commands);
    const first = await after("first");
    assert.ok(first.kept, "lines of a list with the same nodes stay, and so does the focus");
    assert.ok(first.says.length > 600);
    assert.deepEqual([...new Set(first.says)].sort(), ["not yet"]);
    assert.deepEqual(first.here, ["n0"]);
    const last = await after("last");
    assert.ok(last.kept);
    assert.deepEqual([...new Set(last.says)].sort(), ["ready", "seed"]);
    assert.equal(last.here.length, 1);
    // Two in a row end in the second one.
    assert.deepEqual(await after("first", "last"), last);
    assert.deepEqual(await after("last", "first"), first);
    const middle = await after("first", "step 2700");
    assert.ok(middle.says.includes("ready"));
    assert.notEqual(middle.markup, last.markup);
    // A page that has just been opened at this step has made the list anew, and has the same.
    await page.reload();
    await ready(page);
    await saved(page);
    assert.equal(await outline.evaluate((list) => list.innerHTML), middle.markup);
  }));

test("a graph that is too large to be drawn says so, and its outline remains", () =>
  onPage(browser, async (page) => {
    let source = "# huge\nrules numpy\nparam n0 = 1\n";
    for (let i = 1; i < 2100; i += 1) source += `n${i} = relu(n${i - 1})\n`;
    await program(page).fill(source);
    await saved(page);
    await says(page, page.locator("#graph"), /2100 nodes.*outline/is);
    assert.ok((await page.getByRole("list", { name: "Outline" }).getByRole("button").count()) >= 2100);
  }));

test("the minimap shows what is in the pane and moves it by pointer and by keys", () =>
  onPage(browser, async (page) => {
    const map = page.locator("#map");
    await open(page, SMALL);
    assert.equal(await map.isVisible(), false, "what fits needs no map");
    await open(page, long(60));
    await until(page, "the map", () => map.isVisible());
    const part = () => map.locator(".view").getAttribute("d");
    const camera = () => page.locator("#graph .camera").getAttribute("transform");
    const [before, stood] = [await part(), await camera()];
    await map.focus();
    await page.keyboard.press("ArrowRight");
    await until(page, "another part", async () => (await part()) !== before && (await camera()) !== stood);
    const box = await map.boundingBox();
    const y = box.y + box.height / 2;
    await drag(page, { x: box.x + 20, y }, { x: box.x + box.width - 12, y: y + 2 });
    const end = await part();
    const right = Number(/H(\S+?)V/.exec(end)[1]);
    const width = Number((await map.locator("svg").getAttribute("viewBox")).split(" ")[2]);
    assert.ok(right > width * 0.97, `${end} of ${width}`);
    assert.deepEqual(await seriousFindings(page), []);
    await page.setViewportSize({ width: 390, height: 844 });
    await until(page, "no map on a phone", async () => !(await map.isVisible()));
  }, { bypassCSP: true }));

// The router, w / clamp(sum_rows(w)) times a constant, summed up: drawn from nothing in three ways.
const list = (page) => page.locator("#draw");
const lines = (page) => list(page).getByRole("option");

/** Takes the line of the open list that is called so. */
async function takeLine(page, name, press) {
  const line = lines(page).filter({ has: page.locator(".nm", { hasText: new RegExp(`^${name}$`) }) }).first();
  await line.waitFor();
  await press(line);
  await until(page, "the list to close", async () => (await page.locator("#draw .palette").count()) === 0);
  await saved(page);
}

/** The name that the newest line gives. */
const made = async (page, pattern) => {
  const found = pattern.exec(await text(page));
  assert.ok(found, `${pattern} in\n${await text(page)}`);
  return found[1];
};

async function router(page, { press, add, wire }) {
  await program(page).fill("rules numpy\n");
  await saved(page);
  await add(null, "param");
  const w = await made(page, /^param (\w+)/m);
  await add(w, "sum_rows");
  const s = await made(page, /^(\w+) = sum_rows/m);
  await add(s, "relu");
  const c = await made(page, /^(\w+) = relu/m);
  await add(w, "div");
  const y = await made(page, new RegExp(`^(\\w+) = ${w} / \\?`, "m"));
  await wire(c, y, `${y} input 2`);
  assert.match(await text(page), new RegExp(`^${y} = ${w} / ${c}$`, "m"));
  await add(null, "const");
  const g = await made(page, /^const (\w+)/m);
  await add(y, "mul");
  const m = await made(page, new RegExp(`^(\\w+) = ${y} \\* \\?`, "m"));
  await wire(g, m, `${m} input 2`);
  await add(m, "sum");
  assert.match(await text(page), /= sum\(/);
  await until(page, "its gradients", async () => /\/ \d{2}/.test(await page.locator("#stepper .count").innerText()));
  await says(page, page.locator("#dock-first .count-pill"), "0");
  assert.ok(press);
}

/** By presses: a node, the Add button, a line. */
const adds = (page, press) => async (from, name) => {
  if (from) {
    const at = node(page, from);
    await at.waitFor();
    if ((await at.getAttribute("aria-pressed")) !== "true") await press(at);
  } else {
    await page.keyboard.press("Escape");
    const empty = (await page.locator("#graph [aria-pressed=true]").count()) === 0;
    if (!empty) await press(page.locator("#graph .ground"), { x: 6, y: 6 });
  }
  await press(page.getByRole("button", { name: /^Add/ }));
  await takeLine(page, name, press);
};

test("the router is drawn from an empty document by mouse", () =>
  onPage(browser, async (page) => {
    const press = (locator, position) => locator.click({ position });
    await router(page, {
      press,
      add: adds(page, press),
      wire: async (from, to, line) => {
        const grip = page.locator(`#graph .node:has([aria-label*=" ${from},"]) .grip`);
        await drag(page, await middle(grip), await middle(node(page, to)));
        await takeLine(page, line, press);
      },
    });
  }));

test("the router is drawn from an empty document by touch, and a box is moved", () =>
  onPage(
    browser,
    async (page) => {
      const press = (locator, position) => locator.tap({ position });
      const finger = await page.context().newCDPSession(page);
      const touch = async (from, to) => {
        const at = (type, points) => finger.send("Input.dispatchTouchEvent", { type, touchPoints: points });
        await at("touchStart", [from]);
        for (let n = 1; n <= 5; n += 1) {
          await at("touchMove", [{ x: from.x + ((to.x - from.x) * n) / 5, y: from.y + ((to.y - from.y) * n) / 5 }]);
        }
        // A finger that rests before it is lifted flings nothing.
        await frames(page, 8);
        await at("touchMove", [{ x: to.x, y: to.y + 1 }]);
        await frames(page, 8);
        await at("touchEnd", []);
      };
      await router(page, {
        press,
        add: adds(page, press),
        wire: async (from, to, line) => {
          const grip = page.locator(`#graph .node:has([aria-label*=" ${from},"]) .grip`);
          await touch(await middle(grip), await middle(node(page, to)));
          await takeLine(page, line, press);
        },
      });
      const w = await made(page, /^param (\w+)/m);
      const at = await middle(node(page, w));
      await touch(at, { x: at.x, y: at.y - 50 });
      await until(page, "a pin", async () => (await pin(page, w)) !== undefined);
    },
    { viewport: { width: 1180, height: 820 }, hasTouch: true },
  ));

test("the router is drawn from an empty document by keys alone", () =>
  onPage(browser, async (page) => {
    const typed = async (name) => {
      await lines(page).first().waitFor();
      await page.keyboard.type(name.split(" ")[0]);
      // The list comes anew while one types, so the line is looked at again before it is taken.
      let calm = 0;
      await until(page, `the keys at ${name}`, async () => {
        const at = await list(page).locator(".on .nm").allTextContents();
        calm = at[0] === name ? calm + 1 : 0;
        if (calm === 0 && at.length > 0) await page.keyboard.press("ArrowDown");
        return calm > 8;
      });
      await page.keyboard.press("Enter");
      await until(page, "the list to close", async () => (await page.locator("#draw .palette").count()) === 0);
      await saved(page);
    };
    // The outline is the way to a node by its name; F6 leads on to the graph, where it has the keys.
    const walk = async (name) => {
      await toPane(page, "program");
      await until(page, `the outline's ${name}`, async () => {
        const at = await page.evaluate(() => document.activeElement?.closest(".outline button")?.querySelector(".nm")?.textContent);
        if (at === name) return true;
        await page.keyboard.press("Tab");
        return false;
      });
      await page.keyboard.press("Enter");
      await toPane(page, "stage");
      await until(page, `${name} with the keys`, () =>
        page.evaluate((name) => document.activeElement?.getAttribute("aria-label")?.includes(` ${name},`), name),
      );
    };
    const add = async (from, name) => {
      if (from) {
        await walk(from);
      } else {
        await toPane(page, "stage");
        await page.keyboard.press("Escape");
      }
      await page.keyboard.press("n");
      await typed(name);
    };
    await router(page, {
      press: true,
      add,
      wire: async (from, to, line) => {
        await walk(from);
        await page.keyboard.press("c");
        await typed(line);
      },
    });
  }));
