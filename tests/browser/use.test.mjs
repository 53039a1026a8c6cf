// The page in use: by keyboard, by touch, by its address, several on one page, with text that means harm.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { comesTrue, done, drawn, open, readout } from "./browser.mjs";
import { long, traces } from "./traces.mjs";

let browser;
before(async () => (browser = await open()));
after(() => browser.close());

const focused = (page) => page.evaluate(() => {
  const node = document.querySelector(".heed-attention").shadowRoot.activeElement;
  return node ? node.dataset.key ?? node.tagName.toLowerCase() : null;
});

test("by keyboard alone: tabs, words, pinning, cells", async () => {
  const page = await browser.page(traces.transformer, "#kind=cross");
  for (let i = 0; i < 20 && (await focused(page)) !== "tab-heads"; ++i) await page.keyboard.press("Tab");
  assert.equal(await focused(page), "tab-heads");
  await page.locator(".pair svg").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.match(await readout(page), /^animal reads/u);
  assert.match(await page.locator("[role=status]").textContent(), /^animal reads/u);
  await page.keyboard.press("ArrowRight");
  assert.match(await readout(page), /^Tier is read by/u);
  await page.keyboard.press("Enter");
  assert.match(page.url(), /heads\.pin=k1/u);
  assert.equal(await focused(page), "svg");
  await page.keyboard.press("Escape");
  assert.doesNotMatch(page.url(), /heads\.pin/u);

  await page.locator("#tab-heads").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(page), "tab-matrix");
  await page.locator(".view canvas[tabindex]").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("[role=status]").textContent(), /^The reads lief/u);
  await page.keyboard.press("Enter");
  assert.match(page.url(), /matrix\.cell=0%2C2/u);
  await page.keyboard.press("End");
  assert.match(await readout(page), /<\/s>/u);
  await page.keyboard.press("Escape");
  assert.doesNotMatch(page.url(), /matrix\.cell/u);
  await page.locator(".tools summary").focus();
  await page.keyboard.press("Enter");
  assert.ok(await page.locator(".tools .panel").isVisible());
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator(".tools .panel").isVisible()));
  await done(page);
});

test("the mouse points at words and pins them, heads go on and off, a second sentence stands beside", async () => {
  const page = await browser.page(traces.transformer, "#kind=cross&heads.beside=1");
  assert.equal(await page.locator(".pair svg").count(), 2);
  const it = page.locator(".pair svg").first().locator(".word[data-axis=queries]").nth(6);
  await it.hover();
  assert.match(await readout(page), /^it reads/u);
  const marked = await page.locator(".pair svg").evaluateAll((pictures) => pictures.map((picture) => new Set([...picture.querySelectorAll("path")].map((path) => path.dataset.query)).size));
  assert.deepEqual(marked, [1, 1]);
  await it.click();
  assert.match(page.url(), /heads\.pin=q6/u);
  await page.locator("[data-key=head-0]").click();
  assert.match(page.url(), /heads\.on=1\.2\.3/u);
  await page.locator("[data-key=head-2]").dblclick();
  assert.match(page.url(), /heads\.on=2(&|$)/u);
  assert.deepEqual([...new Set(await page.locator(".pair path").evaluateAll((paths) => paths.map((path) => path.dataset.head)))], ["2"]);
  await page.locator("[data-key=head-all]").click();
  await page.getByRole("button", { name: "One line" }).click();
  assert.ok(await page.locator(".pair path").count() > 0);
  await done(page);
});

test("an address opens the view that it was copied from", async () => {
  const page = await browser.page(traces.transformer, "#view=matrix&trace=1&kind=decoder&layer=1&head=3&matrix.cell=4%2C2&note=%3Cb%3Elook%3C%2Fb%3E&noted=matrix&theme=dark");
  assert.match(await page.locator(".view canvas[tabindex]").getAttribute("aria-label"), /Decoder self-attention · layer 1 · head 3/u);
  assert.match(await readout(page), /^not reads animal/u);
  assert.equal(await page.locator("textarea").inputValue(), "<b>look</b>");
  assert.match(await page.locator(".texts").textContent(), /breit/u);
  await page.locator(".tools summary").click();
  await page.locator("[data-key=copy-address]").click();
  let copied = "";
  assert.ok(await comesTrue(async () => (copied = await page.evaluate(() => navigator.clipboard.readText())).startsWith("file://")));
  const again = await browser.visit(copied.slice("file://".length).split("#")[0], `#${copied.split("#")[1]}`);
  assert.equal(await readout(again), await readout(page));
  await again.evaluate(() => (location.hash = "#view=overview"));
  await again.waitForSelector(".heads-table");
  await done(again);
  await done(page);
});

test("an address that means harm or nothing opens the page", async () => {
  const hash = "#view=nothing&trace=99&kind=__proto__&layer=1e9&head=-1&heads.on=x.y&heads.pin=q999&heads.beside=77&language=xx&theme=pink&top=-3&least=9&layers=constructor";
  const page = await browser.page(traces.transformer, hash);
  assert.equal(await page.locator("[aria-selected=true]").getAttribute("id"), "tab-heads");
  await done(page);
  for (const [list, view, address] of [
    [traces.transformer, "heads", "language=constructor&layer=0.5&head=0.5&heads.beside=0.5&top=0.5&readers=0.5"],
    [traces.transformer, "matrix", "matrix.rows=__proto__&matrix.columns=constructor&matrix.cell=1e9,-1"],
    [traces.transformer, "query_key", "kind=encoder&layer=0&query_key.query=0.5&query_key.key=0.5"],
    [traces.transformer, "overview", "overview.role=constructor"],
    [traces.transformer, "alignment", "alignment.least=-3"],
    [traces["a picture"], "picture", "picture.query=-1"],
    [traces["a picture"], "picture", "picture.query=0.5"],
    [traces.transformer, "positions", "positions.length=1.5&positions.position=-7&positions.dimension=1e9&positions.side=constructor"],
    [traces.transformer, "walk", "walk.example=constructor&walk.step=0.5&walk.numbers=__proto__:1"],
  ]) {
    const other = await browser.page(list, `#view=${view}&${address}`);
    assert.equal(await other.locator("[aria-selected=true]").getAttribute("id"), `tab-${view}`);
    assert.ok(await other.locator(".view > *").count() > 0, address);
    await done(other);
  }
});

test("a word that the keyboard is at leaves with the words, and stays in its own sentence", async () => {
  const page = await browser.page(traces.transformer, "#kind=encoder&heads.beside=1");
  await page.locator(".pair svg").first().focus();
  for (let i = 0; i < 15; ++i) await page.keyboard.press("ArrowDown");
  assert.match(await readout(page), /^<\/s> reads/u);
  await page.locator("summary", { hasText: "Combine" }).click();
  await page.getByLabel("Hide special tokens").check();
  assert.match(await readout(page), /^Point at a word/u);
  await page.getByLabel("Hide special tokens").uncheck();
  await page.locator(".pair svg").nth(1).focus();
  for (let i = 0; i < 7; ++i) await page.keyboard.press("ArrowDown");
  assert.match(await readout(page), /^sie reads/u);
  await page.locator("[data-key=head-2]").click();
  assert.match(await readout(page), /^sie reads/u);
  await done(page);
});

test("a press that ends beside the matrix is over, and other buttons pin nothing", async () => {
  const page = await browser.page(traces.transformer, "#view=matrix&kind=cross");
  const canvas = page.locator(".view canvas[tabindex]");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  const before = await readout(page);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width + 20, box.y + box.height + 4, { steps: 3 });
  await page.mouse.up();
  await page.mouse.move(x + 60, y + 60);
  assert.match(await readout(page), / reads /u);
  assert.notEqual(await readout(page), before);
  await page.mouse.click(x + 60, y + 60, { button: "right" });
  await drawn(page);
  assert.doesNotMatch(page.url(), /matrix\.cell/u);
  await page.mouse.click(x + 60, y + 60);
  await drawn(page);
  assert.match(page.url(), /matrix\.cell/u);
  await done(page);
});

test("combinations are of the views that show them", async () => {
  const page = await browser.page(traces.transformer, "#view=matrix&kind=encoder&layer=1&layers=rollout");
  assert.match(await page.locator(".view canvas[tabindex]").getAttribute("aria-label"), /rollout to layer 1/u);
  await page.locator("#tab-query_key").click();
  assert.ok(await page.getByRole("combobox", { name: "Head" }).isVisible());
  await done(page);
});

test("cells of an alignment and patches of a picture are read by keyboard", async () => {
  for (const [list, view, cells] of [
    [traces.transformer, "alignment", [/^The reads Das \d/u, /^The reads Tier \d/u]],
    [traces["a picture"], "picture", [/row 0, column 0: \d/u, /row 0, column 1: \d/u]],
  ]) {
    const page = await browser.page(list, `#view=${view}&kind=cross`);
    await page.locator(".cells").focus();
    for (const [i, key] of ["ArrowDown", "ArrowRight"].entries()) {
      await page.keyboard.press(key);
      assert.match(await page.locator("[role=status]").textContent(), cells[i]);
      assert.equal(await page.locator(".cell-said").textContent(), await page.locator("[role=status]").textContent());
    }
    const frame = await page.locator(".cursor").boundingBox(), cell = await page.locator("[data-row='0'][data-column='1']").boundingBox();
    assert.ok(Math.abs(frame.x + frame.width / 2 - cell.x - cell.width / 2) < 1);
    await page.keyboard.press("Escape");
    assert.match(await page.locator(".cell-said").textContent(), /^Point at/u);
    await done(page);
  }
});

test("the matrix zooms about the pointer, moves under it, and shows all again", async () => {
  const page = await browser.page(long(400), "#view=matrix");
  const canvas = page.locator(".view canvas[tabindex]");
  await canvas.scrollIntoViewIfNeeded();
  const cell = () => canvas.evaluate((node) => Number(node.dataset.cell));
  const all = await cell();
  const box = await canvas.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await drawn(page);
  const under = await readout(page);
  await page.keyboard.down("Control");
  for (let i = 0; i < 6; ++i) await page.mouse.wheel(0, -60);
  await page.keyboard.up("Control");
  assert.ok(await comesTrue(async () => await cell() > 4 * all));
  await drawn(page);
  await page.mouse.move(x + 0.5, y);
  await drawn(page);
  assert.equal(await readout(page), under);
  await page.mouse.down();
  await page.mouse.move(x - 100, y - 100, { steps: 5 });
  await page.mouse.up();
  await page.mouse.move(x - 100, y - 99.5);
  await drawn(page);
  assert.equal(await readout(page), under);
  assert.doesNotMatch(page.url(), /matrix\.cell/u);  // a drag pins nothing
  // What is in sight goes along in the address, and stays where the page is drawn anew, as it is for a printer.
  assert.ok(await comesTrue(() => /matrix\.sight=/u.test(page.url())));
  const near = await cell();
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.ok(Math.abs(await cell() - near) < 0.02);
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  const sent = await browser.visit(browser.file(long(400)), new URL(page.url()).hash);
  assert.ok(Math.abs(await sent.locator(".view canvas[tabindex]").evaluate((node) => Number(node.dataset.cell)) - near) < 0.02);
  await sent.context().close();
  await page.locator(".view canvas[tabindex]").focus();
  await page.keyboard.press("0");
  await page.getByRole("button", { name: "Show all" }).click();
  await drawn(page);
  assert.equal(await cell(), all);
  assert.ok(await comesTrue(() => !/matrix\.sight=/u.test(page.url())));
  await done(page);
});

test("rows and columns are filtered and sorted", async () => {
  const page = await browser.page(traces.transformer, "#view=matrix&kind=cross&layer=2&head=0");
  await page.locator("summary", { hasText: "Sort and filter" }).click();
  await page.getByLabel("Columns with").fill("ti");
  assert.match(await page.locator(".view canvas[tabindex]").getAttribute("aria-label"), /1 columns/u);
  await page.getByLabel("Columns with").fill("nothing like it");
  assert.match(await page.locator(".view").textContent(), /No row and column/u);
  await page.getByLabel("Columns with").fill("");
  await page.getByLabel("Rows by").selectOption("name");
  await page.locator(".in-words summary").click();
  await page.locator(".sentences-list li").first().waitFor();
  const said = await page.locator(".sentences-list li").allTextContents();
  const names = said.map((text) => text.split(" reads ")[0]);
  assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b)));
  await done(page);
});

test("two fingers zoom the matrix on a phone", async () => {
  const page = await browser.page(long(200), "#view=matrix", { width: 390, height: 844 });
  const canvas = page.locator(".view canvas[tabindex]");
  await canvas.scrollIntoViewIfNeeded();
  const before = await canvas.evaluate((node) => Number(node.dataset.cell));
  await canvas.evaluate((node) => {
    const box = node.getBoundingClientRect();
    const finger = (type, pointerId, x, y) => node.dispatchEvent(new PointerEvent(type, { pointerId, pointerType: "touch", clientX: box.left + x, clientY: box.top + y, bubbles: true }));
    node.setPointerCapture = () => {};  // these fingers are none of the browser's
    finger("pointerdown", 11, 150, 150);
    finger("pointerdown", 12, 180, 180);
    for (let i = 1; i <= 10; ++i) finger("pointermove", 12, 180 + 8 * i, 180 + 8 * i);
    finger("pointerup", 11, 150, 150);
    finger("pointerup", 12, 260, 260);
  });
  await drawn(page);
  assert.ok(await canvas.evaluate((node) => Number(node.dataset.cell)) > 2 * before);
  await done(page);
});

test("what opens on a phone stays on its screen", async () => {
  const page = await browser.page(traces.bert, "#view=matrix", { width: 390, height: 844 });
  for (const summary of await page.locator("summary.button").all()) {
    await summary.click();
    await drawn(page);
    const box = await page.locator("details[open] .panel").boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390, `${box.x} to ${box.x + box.width}`);
    await summary.click();
  }
  await done(page);
});

test("fragments share a document with each other and with styles that mean harm", async () => {
  const [one, two] = [traces.bert, traces.bahdanau].map((list) => readFileSync(browser.file(list, ["--fragment"]), "utf8"));
  const hostile = "<style>* { color: red !important; font-size: 50px !important } button, canvas, svg { display: none !important }</style>";
  const path = join(browser.folder, "several.html");
  writeFileSync(path, `<!doctype html><html lang="en"><title>Notebook</title>${hostile}<h1>Notebook</h1><p style="height: 3000px">Long before</p>${one}<p>between</p>${two}</html>`);
  const page = await browser.visit(path);
  assert.equal(await page.evaluate(() => scrollY), 0);  // no fragment takes the document to itself
  const hosts = page.locator(".heed-attention");
  assert.equal(await hosts.count(), 2);
  for (const [i, model] of [[0, "BERT"], [1, "Bahdanau"]]) {
    const host = hosts.nth(i);
    assert.match(await host.locator(".model").textContent(), new RegExp(model, "u"));
    await host.locator("#tab-matrix").click();
    assert.ok(await host.locator(".view canvas[tabindex]").isVisible());
    assert.equal(await host.locator(".texts dd").first().evaluate((node) => getComputedStyle(node).fontSize), "17px");
    assert.notEqual(await host.locator("h1, h2").first().evaluate((node) => getComputedStyle(node).color), "rgb(255, 0, 0)");
  }
  await hosts.nth(0).getByRole("button", { name: "中文" }).click();
  assert.match(await hosts.nth(0).locator("#tab-matrix").textContent(), /矩阵/u);
  assert.match(await hosts.nth(1).locator("#tab-matrix").textContent(), /Matrix/u);
  assert.ok(!page.url().includes("#"));
  await done(page);
});

test("text of a trace is shown and never obeyed", async () => {
  const page = await browser.page(traces["right to left"], "");
  assert.match(await page.locator(".model").textContent(), /<\/script><b id="injected">/u);
  assert.ok((await page.locator(".pair text").allTextContents()).includes("<b id=\"injected\">"));
  assert.equal(await page.evaluate(() => document.querySelectorAll("b").length), 0);
  await done(page);
});
