// Pages made by the command, open in Debian's Chromium, which may load nothing else.
//
//   const browser = await open();
//   const page = await browser.page(traces.bert, "#view=matrix");     // a playwright Page, with page.wrong: [] of all
//                                                                     // that went wrong and page.requests of what it
//   await done(page);                                                 // asked for
//   await browser.close();
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const { HEED, CHROMIUM } = process.env;
// Milliseconds that something may take to come: a machine with other work is slow, and a test that hangs is told too.
const kPatience = 120_000;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function open() {
  const folder = mkdtempSync(join(tmpdir(), "heed-page-"));
  // No sandbox: tests run as root in containers, too. The page is ours.
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  const made = new Map();

  // The file of a page of traces.
  function file(traces, options = []) {
    const key = JSON.stringify([traces, options]);
    if (!made.has(key)) {
      const name = join(folder, `page${made.size}`);
      writeFileSync(`${name}.json`, JSON.stringify({ format: "heed attention traces", version: 2, traces }));
      execFileSync(HEED, ["view", `${name}.json`, "--out", `${name}.html`, ...options], { stdio: ["ignore", "ignore", "inherit"] });
      made.set(key, `${name}.html`);
    }
    return made.get(key);
  }

  async function visit(path, hash = "", { width = 1200, height = 900, dark = false } = {}) {
    const context = await browser.newContext({
      viewport: { width, height }, colorScheme: dark ? "dark" : "light", acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(kPatience);
    const page = await context.newPage();
    page.wrong = [];
    page.requests = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.wrong.push(message.text()));
    page.on("pageerror", (error) => page.wrong.push(error.stack));
    page.on("request", (request) => /^(data|blob):/u.test(request.url()) || page.requests.push(request.url()));
    await page.goto(`file://${path}${hash}`);
    await page.waitForSelector("[role=tabpanel]");
    return page;
  }

  return {
    folder, file, visit,
    page: (traces, hash, options) => visit(file(traces, options?.arguments), hash, options),
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// Closes a page, of which nothing may have gone wrong.
export async function done(page) {
  assert.deepEqual(page.wrong, []);
  await page.context().close();
}

export const readout = (page) => page.locator(".readout").textContent();

// The file that the page's menu saves.
export async function saved(page, kind) {
  if (!(await page.locator(".tools .panel").isVisible())) await page.locator(".tools summary").click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`[data-key=save-${kind}]`).click()]);
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
}

// That axe finds nothing wrong with the page; `where` is said beside what it finds.
export async function accessible(page, where) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  // Preloading fetches what is styled from other files, of which the page has none.
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"], preload: false }));
  const told = violations.map(({ id, help, nodes }) => `${id} (${help}): ${nodes.slice(0, 3).map((node) => node.html).join(" ")}`);
  assert.deepEqual(told, [], where);
}

// What the page does next, has been done and drawn: by frames and not by a clock, which says nothing on a busy machine.
export const drawn = (page) => page.evaluate(() => new Promise((done) => {
  let left = 4;
  const next = () => (left-- > 0 ? requestAnimationFrame(next) : done());
  next();
}));

// Whether something comes true, of what the browser is still being told (a wheel, a download).
export async function comesTrue(condition) {
  for (const end = Date.now() + kPatience; Date.now() < end;) {
    if (await condition()) return true;
    await new Promise((done) => setTimeout(done, 50));
  }
  return false;
}

// The places of text and shapes that lie outside of the picture that they belong to, of each <svg> in sight.
export const outside = (page) => page.evaluate(() => {
  const found = [];
  const root = document.querySelector(".heed-attention").shadowRoot;
  for (const picture of root.querySelectorAll("svg")) {
    const frame = picture.getBoundingClientRect();
    for (const text of picture.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      if (box.width === 0) continue;
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) found.push(text.textContent);
    }
  }
  return found;
});
