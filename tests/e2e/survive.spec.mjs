// Workers that trap, hang, run out of memory or answer late, and a document that would rather be markup.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, onPage, openPage, ready, url } from "./lib.mjs";
import { command, openExample, program, rules, says, scrubber, side, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const text = `# a bias
rules numpy
const X [3 row, 2] = 1
param b [2] = [0, 0]
y = X + b
loss = sum(y * [[1, 2], [3, 4], [5, 6]])
check fd
train sgd lr=0.1 steps=3
`;

const over = (page) => page.locator("#over");

async function faulty(body, script) {
  const { page, complaints } = await openPage(browser);
  if (script) await page.addInitScript(script);
  await page.goto(`${url}?fault`);
  await ready(page);
  await body(page);
  assert.deepEqual(complaints, [], "the page complained");
  await page.context().close();
}

/** Whatever happened, the text is there and stepping goes on. */
async function lives(page, written) {
  assert.equal(await program(page).inputValue(), written);
  await scrubber(page).focus();
  await page.keyboard.press("Home");
  await says(page, page.locator("#stepper .count"), /^1\s/);
  await page.keyboard.press("ArrowRight");
  await says(page, page.locator("#stepper .count"), /^2\s/);
}

/** Waits for longer than the most patient worker's page. */
async function inTheEnd(page, what, probe) {
  const end = Date.now() + 40_000;
  while (!(await probe())) {
    if (Date.now() > end) assert.fail(`waited in vain for: ${what}`);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done())));
  }
}

const shows = async (locator, words) =>
  (await locator.count()) > 0 && (await locator.first().innerText()).includes(words);

test("the engine runs out of memory, and the page goes on", () =>
  faulty(async (page) => {
    await program(page).fill(text);
    await says(page, page.locator("#program .outline"), "loss");
    const broken = `${text}# fault: memory\n`;
    await program(page).fill(broken);
    await says(page, page.locator(".crash"), "The engine crashed");
    await lives(page, broken);
    await program(page).fill(text);
    await until(page, "no alert", async () => (await page.locator(".crash").count()) === 0);
  }));

for (const [fault, words] of [
  ["trap", "unreachable"],
  ["panic", "a panic on purpose"],
  ["memory", "unreachable"],
  ["hang", "It took too long"],
]) {
  test(`a ${fault} of the panels' worker breaks a panel`, () =>
    faulty(async (page) => {
      const broken = `${text}# panel fault: ${fault}\n`;
      await program(page).fill(broken);
      await inTheEnd(page, "the panel to say so", () => shows(side(page).locator(".made"), "could not be made"));
      await says(page, side(page).locator(".made"), words);
      await lives(page, broken);
      // It is stored all the same: a later worker does that.
      await page.getByRole("heading", { level: 1 }).getByRole("button").click();
      await says(page, over(page), "a bias");
      await page.keyboard.press("Escape");
      await program(page).fill(text);
      await says(page, side(page).locator(".made"), "Elements");
    }));

  test(`a ${fault} of the trainer is a run's end`, () =>
    faulty(async (page) => {
      const broken = `${text}# trainer fault: ${fault}\n`;
      await program(page).fill(broken);
      await page.getByRole("button", { name: /^Checks/ }).first().click();
      await inTheEnd(page, "the run to end", () => shows(over(page), "Stopped by an error"));
      await page.keyboard.press("Escape");
      await lives(page, broken);
      await program(page).fill(text);
      await page.getByRole("button", { name: /^Checks/ }).first().click();
      await says(page, over(page), "Done");
    }));
}

// Keeps what every worker has ever said, so that it can be said again, late and in the wrong order.
const remember = () => {
  globalThis.said = [];
  globalThis.Worker = class extends Worker {
    set onmessage(listen) {
      super.onmessage =
        listen &&
        ((event) => {
          // One that has ended says nothing any more.
          const again = () => this.ended || listen.call(this, event);
          globalThis.said.push([JSON.stringify(event.data[0]), again]);
          listen.call(this, event);
        });
    }
    terminate() {
      this.ended = true;
      super.terminate();
    }
  };
};

test("what any worker says late and out of order is dropped", () =>
  faulty(async (page) => {
    await program(page).fill(text);
    await says(page, side(page).locator(".made"), "Elements");
    await page.getByRole("button", { name: /^Checks/ }).first().click();
    await says(page, over(page), "Done");
    await says(page, over(page), "agrees");
    const other = "# another\nrules numpy\nparam x = 3\nz = x * x\nloss = z\ncheck fd\ntrain sgd lr=0.1 steps=2\n";
    await program(page).fill(other);
    await says(page, page.locator("h1"), "another");
    await says(page, over(page), "agrees");
    await until(page, "its run", async () => (await over(page).locator("progress").getAttribute("value")) === "2");
    await says(page, side(page).locator(".made"), "Elements");
    // It is stored by now, so that nothing is under way any more.
    await until(page, "the save", () =>
      page.evaluate(() => globalThis.said.some(([said]) => said.includes("docs save") && said.includes("saved "))),
    );
    const looks = () =>
      page.evaluate(() =>
        ["h1", "#program .outline", "#over", "#side", "#stepper .count", "#graph"].map((place) => document.querySelector(place).innerHTML),
      );
    const [before, n] = [await looks(), await page.evaluate(() => globalThis.said.length)];
    const kinds = await page.evaluate(() => {
      const old = [...globalThis.said].reverse();
      for (const [, again] of old) again();
      return ["Report", "Checks", "Training", "Panel"].filter((kind) => old.some(([said]) => said.includes(kind)));
    });
    assert.deepEqual(kinds, ["Report", "Checks", "Training", "Panel"], "every worker has answered");
    assert.ok(n > 8, `only ${n}`);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    assert.deepEqual(await looks(), before);
    assert.equal(await program(page).inputValue(), other);
  }, remember));

const hostile = `# <img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=2</script>
rules numpy
param x [2 row] = [1, 2] # </textarea><svg onload="globalThis.pwned=3">
y = sum(x * x) # '"><b id=pwned>
loss = y
check fd
train sgd lr=0.1 steps=2
`;

const files = `# <img src=x onerror="globalThis.pwned=1">
param w [2] = load("<img src=x onerror='globalThis.pwned=4'>.npy")
loss = sum(w) + <b>
z = "<i id=pwned>"
`;

test("a document that would be markup is text in every place", () =>
  onPage(browser, async (page) => {
    const clean = async (where) => {
      const found = await page.evaluate(() => [
        globalThis.pwned,
        document.querySelectorAll("img, #pwned, #app script, body > script, svg[onload], [onerror]").length,
      ]);
      assert.deepEqual(found, [undefined, 0], where);
    };
    await program(page).fill(hostile);
    await says(page, page.locator("h1"), "<img src=x");
    await says(page, side(page).locator(".made"), "Elements");
    await clean("the page");
    for (const panel of ["checks", "steps", "show-fold", "show-rules", "show-paths", "reference", "documents"]) {
      await command(page, panel);
      await until(page, panel, async () => {
        const said = await over(page).innerText();
        return said.length > 60 && !said.includes("Making this panel");
      });
      await clean(panel);
      if (panel === "reference") {
        await over(page).getByRole("searchbox").fill("<img src=x onerror=globalThis.pwned=5>");
        await says(page, over(page), "Codes");
        await clean("what is looked for");
      }
      if (panel !== "documents") await command(page, "graph");
    }
    await says(page, over(page), "<img src=x");
    await page.getByRole("button", { name: /^Rename/ }).click();
    await page.getByRole("textbox", { name: "Name" }).fill(`"><img src=x onerror=globalThis.pwned=6>`);
    await page.getByRole("textbox", { name: "Name" }).press("Enter");
    await says(page, page.locator("h1"), `"><img`);
    await clean("a name");
    await page.getByRole("button", { name: /^Duplicate/ }).click();
    await says(page, over(page), "(2)");
    await page.getByRole("button", { name: /^Delete .*\(2\)$/ }).click();
    await says(page, over(page), "Put back");
    await clean("what is deleted");
    await program(page).fill(files);
    await says(page, page.locator("#complaint"), "Line");
    await clean("problems");
    await page.getByRole("button", { name: "Problems" }).first().click();
    await clean("a problem");
    await says(page, over(page), "Rename");
    await command(page, "tell history");
    await until(page, "what it changed", () => shows(over(page), "globalThis.pwned=3"));
    await clean("the history");
    await command(page, "draw new");
    await says(page, page.locator("#draw"), "mend it first");
    await clean("what can be drawn");
  }));

test("nothing is asked of anybody during a whole journey", () =>
  onPage(browser, async (page, { requests }) => {
    const asked = requests.length;
    await page.context().setOffline(true);
    await openExample(page, "Eight-expert router");
    await rules(page).selectOption("ggml");
    await program(page).fill(text);
    await says(page, side(page).locator(".made"), "Elements");
    await page.getByRole("button", { name: /^Checks/ }).first().click();
    await says(page, over(page), "Done");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Compare rules" }).click();
    await says(page, over(page), "Judge by");
    await page.getByRole("button", { name: "Reference" }).click();
    await says(page, over(page), "Codes");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { level: 1 }).getByRole("button").click();
    await says(page, over(page), "Eight-expert router");
    await page.getByRole("button", { name: "History of Eight-expert router" }).click();
    await says(page, over(page), "first that is kept");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await download;
    await page.locator("#file").setInputFiles({ name: "f.fold", mimeType: "text/plain", buffer: Buffer.from(text) });
    await says(page, page.locator("#live"), "Opened");
    await page.getByRole("button", { name: "Predict" }).click();
    await page.getByRole("button", { name: "Next step" }).click();
    const further = requests.slice(asked).filter((request) => !request.startsWith("blob:"));
    assert.deepEqual(further, []);
    const resources = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => !name.startsWith(location.origin) && !name.startsWith("blob:")),
    );
    assert.deepEqual(resources, [], "nor was anything from elsewhere before");
  }));

test("the page may run no text as code", () =>
  onPage(browser, async (page) => {
    const policy = await page.locator("meta[http-equiv='Content-Security-Policy']").getAttribute("content");
    assert.doesNotMatch(policy, /'unsafe-eval'|'unsafe-inline'|\*/);
    assert.match(policy, /default-src 'none'/);
    const outcome = await page.evaluate(
      () =>
        new Promise((resolve) => {
          addEventListener("securitypolicyviolation", ({ violatedDirective }) => resolve(violatedDirective), { once: true });
          const script = document.createElement("script");
          script.textContent = "globalThis.pwned = 1";
          document.body.append(script);
          requestAnimationFrame(() => resolve("it ran"));
        }),
    );
    assert.match(outcome, /script-src/);
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
    assert.equal(await page.evaluate(() => { try { return eval("1"); } catch (error) { return error.name; } }), "EvalError");
  }).catch((error) => {
    // The browser says in the console what it refused: that is the only complaint.
    if (!/Content Security Policy/.test(error.message)) throw error;
  }));
