// Documents: what is written is never lost, whatever happens to the tab, the page or the store.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { launch, onPage, openPage, ready, seriousFindings, url } from "./lib.mjs";
import { openExample, place, program, says, until } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const one = "# One\nrules numpy\nparam x = 3\nloss = x * x\n";
const two = "# Two\nrules numpy\nparam x = 5\nloss = x * x\n";

const heading = (page) => page.getByRole("heading", { level: 1 });
const over = (page) => page.locator("#over");
const list = (page) => page.getByRole("list", { name: "Documents", exact: true });
const rows = (page) => list(page).getByRole("listitem");
const names = (page) => rows(page).locator(".nm > :first-child").allInnerTexts();

/** All texts in the store; none where there is no store yet. */
const stored = (page) =>
  page.evaluate(async () => {
    if (!(await indexedDB.databases()).some(({ name }) => name === "foldback")) return [];
    const done = (request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open("foldback"));
    const all = await done(database.transaction("documents").objectStore("documents").getAll());
    database.close();
    return all.map(({ text }) => text);
  });

/** Waits until a text is in the store. */
const isStored = (page, text) =>
  until(page, `the store to have ${JSON.stringify(text)}`, async () => (await stored(page)).includes(text));

async function write(page, text) {
  await program(page).fill(text);
  await isStored(page, text);
}

async function openDocuments(page) {
  if (await over(page).count()) await page.keyboard.press("Escape");
  await heading(page).getByRole("button").click();
  await says(page, over(page), "New document");
}

async function drop(page, name, bytes) {
  const data = await page.evaluateHandle(
    ([name, bytes]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(bytes)], name));
      return transfer;
    },
    [name, [...bytes]],
  );
  await page.dispatchEvent("#stage", "drop", { dataTransfer: data });
}

test("what is written is stored by itself, and there after a reload with its name, its step and its history", () =>
  onPage(browser, async (page) => {
    await write(page, one);
    await write(page, one.replace("3", "4"));
    await page.getByRole("button", { name: "Previous step" }).click();
    await page.getByRole("button", { name: "Previous step" }).click();
    const { now } = await place(page);
    await says(page, page.locator("#side"), "Elements");
    await page.reload();
    await ready(page);
    await says(page, heading(page), "One");
    assert.equal(await program(page).inputValue(), one.replace("3", "4"));
    assert.equal((await place(page)).now, now);
    await openDocuments(page);
    assert.deepEqual(await names(page), ["One"]);
    await page.getByRole("button", { name: "History of One" }).click();
    await says(page, over(page), "1 line changed");
  }));

test("a text that was not stored yet is there after a reload, too", async () => {
  const { page } = await openPage(browser);
  await page.goto(url);
  await ready(page);
  await program(page).fill(one);
  // Nothing is waited for: the browser has it before the page ends.
  await page.reload();
  await ready(page);
  assert.equal(await program(page).inputValue(), one);
  await isStored(page, one);
  await page.context().close();
});

test("two documents are kept apart, and an example takes the place of neither", () =>
  onPage(browser, async (page) => {
    await write(page, one);
    await page.getByRole("button", { name: "New", exact: true }).click();
    await says(page, heading(page), "Untitled");
    await write(page, two);
    await openExample(page, "Two-expert router");
    await openDocuments(page);
    assert.deepEqual(await names(page), ["Two", "One"], "what nobody changed is no document of one's own");
    await list(page).getByRole("button", { name: "One", exact: true }).click();
    await says(page, heading(page), "One");
    assert.equal(await program(page).inputValue(), one);
    assert.equal(await page.getByRole("button", { name: "Undo" }).isDisabled(), true, "each has its own history");
    await openDocuments(page);
    await list(page).getByRole("button", { name: "Two", exact: true }).click();
    await says(page, heading(page), "Two");
    assert.equal(await program(page).inputValue(), two);
    assert.deepEqual((await stored(page)).sort(), [one, two]);
  }));

test("what was typed just before another document opens is stored", () =>
  onPage(browser, async (page) => {
    await program(page).fill(one);
    await page.getByRole("button", { name: "New", exact: true }).click();
    await program(page).fill(two);
    await openExample(page, "Eight-expert router");
    await isStored(page, one);
    await isStored(page, two);
  }));

test("a document is renamed, duplicated, deleted and put back by keys alone", () =>
  onPage(browser, async (page) => {
    await write(page, one);
    await heading(page).getByRole("button").focus();
    await page.keyboard.press("Enter");
    await says(page, over(page), "changed");
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent);
    const press = async (name) => {
      for (let presses = 0; presses < 30; presses += 1) {
        if ((await focused())?.startsWith(name)) return page.keyboard.press("Enter");
        await page.keyboard.press("Tab");
      }
      assert.fail(`Tab never reaches ${name}`);
    };
    await press("Rename One");
    await until(page, "the field", async () => (await focused()) === "Name");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("My own");
    await page.keyboard.press("Enter");
    await says(page, heading(page), "My own");
    await until(page, "the button again", async () => (await focused()) === "Rename My own");
    await press("Duplicate My own");
    await until(page, "two of them", async () => (await names(page)).join() === "My own (2),My own");
    assert.equal(await focused(), "Duplicate My own");
    await press("Delete My own");
    // The one that was open is gone: the other one opens, and what was done can be undone where the focus is.
    await says(page, heading(page), "My own (2)");
    assert.equal(await program(page).inputValue(), one);
    await until(page, "the way back", async () => (await focused()) === "Put back My own");
    await page.keyboard.press("Enter");
    await until(page, "both", async () => (await names(page)).length === 2);
    await page.keyboard.press("Escape");
    await until(page, "the graph", async () => (await over(page).count()) === 0);
    assert.equal(await page.evaluate(() => document.activeElement.closest("h1") !== null), true, "the focus is back");
  }));

test("a version is restored as one step of undo", () =>
  onPage(browser, async (page) => {
    await write(page, one);
    await write(page, two);
    await write(page, `${two}# more\n`);
    await openDocuments(page);
    await page.getByRole("button", { name: /^History/ }).click();
    const versions = page.getByRole("list", { name: "Versions" }).getByRole("listitem");
    await until(page, "three versions", async () => (await versions.count()) === 3);
    assert.match(await versions.nth(0).innerText(), /1 line added[\s\S]*\+ # more/);
    assert.match(await versions.nth(1).innerText(), /2 lines changed[\s\S]*− # One[\s\S]*\+ # Two/);
    await versions.nth(2).getByRole("button", { name: /^Restore/ }).click();
    await until(page, "the first text", async () => (await program(page).inputValue()) === one);
    await page.getByRole("button", { name: "Undo" }).click();
    assert.equal(await program(page).inputValue(), `${two}# more\n`);
  }));

test("a file is dropped anywhere and opens as a document of its own", () =>
  onPage(browser, async (page) => {
    await write(page, one);
    await drop(page, "a net.fold", Buffer.from("rules numpy\r\nparam é = 3\r\nloss = é * é\r\n"));
    await says(page, heading(page), "a net");
    assert.equal(await program(page).inputValue(), "rules numpy\nparam é = 3\nloss = é * é\n");
    await openDocuments(page);
    await until(page, "both", async () => (await names(page)).join() === "a net,One");
    await page.keyboard.press("Escape");

    await drop(page, "bytes.fold", [0x70, 0xff, 0xfe, 0x0a]);
    await says(page, page.locator("#drawn"), "no text in UTF-8");
    await says(page, page.locator("#live"), "no text in UTF-8");
    await drop(page, "large.fold", Buffer.alloc(1_048_577, 0x20));
    await says(page, page.locator("#drawn"), "larger than 1 MiB");
    await says(page, heading(page), "a net");
    // So much is read, whatever it holds.
    await drop(page, "full.fold", Buffer.from(`${"#".repeat(127)}\n`.repeat(8192)));
    await says(page, heading(page), "full");
  }));

test("a file that is saved and opened again has the same bytes", () =>
  onPage(browser, async (page) => {
    const text = "# Bytes, é \t 木\nrules numpy\n\nparam x = 3   # blanks\nloss = x * x";
    await write(page, text);
    const save = async () => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Save", exact: true }).click(),
      ]);
      return [download.suggestedFilename(), await readFile(await download.path())];
    };
    const [name, bytes] = await save();
    assert.equal(name, "bytes.fold");
    assert.equal(bytes.toString("utf8"), text);
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.keyboard.press("Control+o")]);
    await chooser.setFiles({ name: "other name.fold", mimeType: "text/plain", buffer: bytes });
    await says(page, heading(page), "other name");
    assert.equal(await program(page).inputValue(), text);
    const [again, same] = await save();
    assert.equal(again, "other-name.fold");
    assert.ok(same.equals(bytes));
  }));

test("a crash of the page loses nothing", async () => {
  const { page } = await openPage(browser);
  await page.goto(url);
  await ready(page);
  await write(page, one);
  await program(page).fill(two);
  await says(page, heading(page), "Two");
  await page.getByRole("button", { name: "Previous step" }).click();
  const { now } = await place(page);
  await page.evaluate(() =>
    dispatchEvent(new ErrorEvent("error", { error: new WebAssembly.RuntimeError("unreachable") })),
  );
  await says(page, page.getByRole("alert"), "The page crashed");
  await page.getByRole("button", { name: "Reload" }).click();
  await ready(page);
  assert.equal(await program(page).inputValue(), two);
  assert.equal((await place(page)).now, now);
  await openDocuments(page);
  await page.getByRole("button", { name: "History of Two" }).click();
  await says(page, page.getByRole("list", { name: "Versions" }), "− # One");
  await page.context().close();
});

test("without the browser's database the page says so, and keeps the open document", async () => {
  const { page, complaints } = await openPage(browser);
  await page.addInitScript(() => {
    // In the workers: that is where documents are stored.
    globalThis.Blob = class extends Blob {
      constructor(parts, options) {
        const script = options?.type === "text/javascript";
        super(script ? ["Object.defineProperty(self, 'indexedDB', { value: undefined });", ...parts] : parts, options);
      }
    };
  });
  await page.goto(url);
  await ready(page);
  await program(page).fill(one);
  await says(page, page.locator(".saved"), "without a history");
  await openDocuments(page);
  await says(page, over(page), "keeps only the document that is open");
  await page.reload();
  await ready(page);
  assert.equal(await program(page).inputValue(), one);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test("two tabs with the same document lose nothing", async () => {
  const context = await browser.newContext();
  const open = async () => {
    const page = await context.newPage();
    await page.goto(url);
    await ready(page);
    return page;
  };
  const first = await open();
  await write(first, one);
  const second = await open();
  await says(second, heading(second), "One");

  // One that has changed nothing shows what the other has done, when somebody looks.
  await write(first, one.replace("3", "4"));
  await second.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
  await until(second, "the newer text", async () => (await program(second).inputValue()).includes("x = 4"));

  // Both change it: both texts are there, under two names, and the second page says so.
  await write(first, `${one}# mine\n`);
  await program(second).fill(`${one}# yours\n`);
  await says(second, second.locator("#drawn"), "changed in another tab");
  await says(second, heading(second), "One (2)");
  await isStored(second, `${one}# yours\n`);
  assert.deepEqual((await stored(second)).sort(), [`${one}# mine\n`, `${one}# yours\n`]);
  await openDocuments(second);
  assert.deepEqual(await names(second), ["One (2)", "One"]);

  // From then on they are two documents.
  await write(second, `${one}# yours, further\n`);
  await write(first, `${one}# mine, further\n`);
  assert.equal((await stored(second)).length, 2);
  // Each tab goes on with its own after a reload.
  await second.reload();
  await ready(second);
  await says(second, heading(second), "One (2)");
  await first.reload();
  await ready(first);
  assert.equal(await program(first).inputValue(), `${one}# mine, further\n`);
  await context.close();
});

test("a name is text, and never markup", () =>
  onPage(browser, async (page) => {
    await write(page, one);
    await openDocuments(page);
    await page.getByRole("button", { name: "Rename One" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("<img src=x onerror=alert(1)>");
    await page.getByRole("textbox", { name: "Name" }).press("Enter");
    await says(page, heading(page), "<img src=x");
    await until(page, "the list", async () => (await names(page))[0].startsWith("<img"));
    assert.equal(await page.locator("#app img").count(), 0);
  }));

for (const [name, context] of [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["forced colours", { forcedColors: "active" }],
  ["a phone", { viewport: { width: 390, height: 844 } }],
  ["a small phone", { viewport: { width: 320, height: 720 } }],
]) {
  test(`documents and their history have nothing serious: ${name}`, () =>
    onPage(
      browser,
      async (page) => {
        await page.evaluate(() => document.querySelector("[data-do='tab program']").click());
        await write(page, one);
        await write(page, two);
        await openDocuments(page);
        await page.getByRole("button", { name: "Duplicate Two" }).click();
        await until(page, "a copy", async () => (await rows(page).count()) === 2);
        await page.getByRole("button", { name: "Delete Two (2)" }).click();
        await says(page, over(page), "Delete for good");
        const look = async (what) => {
          assert.deepEqual(await seriousFindings(page), [], what);
          const wide = () => page.evaluate(() => {
            const { scrollWidth, clientWidth } = document.querySelector("#over > .made");
            return Math.max(document.documentElement.scrollWidth - innerWidth, scrollWidth - clientWidth);
          });
          assert.ok((await wide()) <= 0, `${what} is ${await wide()} pixels too wide`);
        };
        await look("the list");
        await page.getByRole("button", { name: "Rename Two" }).click();
        await page.getByRole("textbox", { name: "Name" }).waitFor();
        await look("a new name");
        await page.getByRole("button", { name: /^Done/ }).click();
        await page.getByRole("button", { name: /^History/ }).click();
        await says(page, over(page), "History of Two");
        await look("the history");
      },
      { ...context, bypassCSP: true },
    ));
}
