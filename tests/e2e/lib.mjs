// What every browser test starts from: a fresh Chromium, a page that may not complain, and axe.
//
// `cargo xtask test` and `cargo xtask shots` serve the built page and set both variables.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

export const url = variable("FOLDBACK_URL");
const executablePath = variable("FOLDBACK_CHROMIUM");

function variable(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this through \`cargo xtask test --browser\``);
  return value;
}

// Quiet on a closed network and able to run as root; `extra` adds to them, e.g. "--js-flags=…".
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts Chromium with a profile of its own, which ends with it. */
export function launch(...extra) {
  return chromium.launch({ executablePath, args: [...FLAGS, ...extra] });
}

/**
 * Opens a page without going anywhere yet. `complaints` collects uncaught errors, errors on the
 * console and failed requests, each as one line of text; `requests` collects every URL asked for.
 */
export async function openPage(browser, context = {}) {
  const page = await (await browser.newContext(context)).newPage();
  const complaints = [];
  const requests = [];
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.stack ?? error}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  page.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
  page.on("request", (request) => requests.push(request.url()));
  return { page, complaints, requests };
}

/** Resolves once the page runs, its worker has answered, and the whole engine has taken over. */
export async function ready(page) {
  await stands(page);
  await page.waitForFunction(() => document.documentElement.dataset.engine === "whole");
}

/** Resolves once the page runs and its worker has answered, with as much of the engine as it starts with. */
export async function stands(page) {
  await page.waitForFunction(() => {
    const { state } = document.documentElement.dataset;
    return state === "ready" || state === "failed";
  });
  const state = await page.evaluate(() => document.documentElement.dataset.state);
  assert.equal(state, "ready", "the page did not start");
}

/**
 * Runs `body(page, { complaints, requests })` on the loaded page, and fails if the page complained.
 * `context` goes to Playwright: `viewport`, `colorScheme`, `reducedMotion`, `bypassCSP`, …
 */
export async function onPage(browser, body, context = {}) {
  const { page, complaints, requests } = await openPage(browser, context);
  try {
    await page.goto(url);
    await ready(page);
    await body(page, { complaints, requests });
    assert.deepEqual(complaints, [], "the page complained");
  } catch (error) {
    // A test that waits in vain is explained by what the page said meanwhile.
    if (complaints.length > 0) error.message += `\nthe page said:\n${complaints.join("\n")}`;
    throw error;
  } finally {
    await page.context().close();
  }
}

const axeSource = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds serious or critical, one line each; the page's context needs `bypassCSP: true`. */
export async function seriousFindings(page) {
  await page.evaluate(await axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id}: ${help}: ${target.join(" ")}`));
}
