// What is drawn, said and saved, held against the trace.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Trace } from "../../heed/viz/page/trace.js";
import { combine } from "../../heed/viz/page/combine.js";
import { done, open, readout, saved } from "./browser.mjs";
import { long, traces } from "./traces.mjs";

let browser;
before(async () => (browser = await open()));
after(() => browser.close());

const trace = new Trace(traces.transformer[0]);
const kStep = 2 / 65535;  // what packing may change

const rowsOf = (csv) => csv.toString().trimEnd().split("\r\n").slice(1).map((line) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/gu).map((cell) => cell.replace(/,$/u, "").replace(/^"(.*)"$/u, "$1").replaceAll('""', '"')));

// Where the matrix's canvas shows a cell, in the window's pixels.
async function cellAt(page, row, column) {
  const { left, top, cell, x, y } = await page.evaluate(() => {
    const canvas = document.querySelector(".heed-attention").shadowRoot.querySelector(".view canvas[tabindex]");
    const box = canvas.getBoundingClientRect();
    return { ...Object.fromEntries(Object.entries(canvas.dataset).map(([key, value]) => [key, Number(value)])), x: box.left, y: box.top };
  });
  return { x: x + left + (column + 0.5) * cell, y: y + top + (row + 0.5) * cell };
}

test("the matrix tells the weight of each cell that is pointed at, and paints it in the scale's colour", async () => {
  const page = await browser.page(traces.transformer, "#view=matrix&kind=cross&layer=1&head=2");
  const map = trace.map("cross", 1);
  const labels = { rows: trace.target.labels, columns: trace.source.labels };
  const palette = await page.evaluate(() => JSON.parse(document.querySelector(".heed-attention script").textContent).palette);
  await page.locator(".view canvas[tabindex]").scrollIntoViewIfNeeded();
  for (const [row, column] of [[0, 0], [3, 5], [9, 2], [map.queries - 1, map.keys - 1]]) {
    const { x, y } = await cellAt(page, row, column);
    await page.mouse.move(x, y);
    const weight = map.head(2)[row * map.keys + column];
    const said = /^(.*) reads (.*) ([\d.]+)$/u.exec(await readout(page));
    assert.deepEqual(said.slice(1, 3), [labels.rows[row], labels.columns[column]]);
    assert.ok(Math.abs(Number(said[3]) - weight) <= 0.0005 + kStep);
  }
  await page.mouse.move(2, 2);
  const end = await page.locator(".legend span").last().textContent();
  const seen = await page.evaluate(() => {
    const canvas = document.querySelector(".heed-attention").shadowRoot.querySelector(".view canvas[tabindex]");
    const { left, top, cell } = Object.fromEntries(Object.entries(canvas.dataset).map(([key, value]) => [key, Number(value)]));
    const context = canvas.getContext("2d");
    const at = (row, column) => [...context.getImageData(Math.round(left + (column + 0.5) * cell), Math.round(top + (row + 0.5) * cell), 1, 1).data.slice(0, 3)];
    return [[0, 0], [3, 5], [9, 2]].map(([row, column]) => at(row, column));
  });
  [[0, 0], [3, 5], [9, 2]].forEach(([row, column], i) => {
    const share = Math.min(1, map.head(2)[row * map.keys + column] / Number(end));
    const steps = [Math.floor(share * 255 - 0.1), Math.ceil(share * 255 + 0.1)].map((step) => Math.min(255, Math.max(0, step)));
    const colours = [];
    for (let step = steps[0]; step <= steps[1]; ++step) colours.push(parseInt(palette.slice(6 * step, 6 * step + 6), 16));
    assert.ok(colours.includes((seen[i][0] << 16) | (seen[i][1] << 8) | seen[i][2]), `cell ${row}, ${column}`);
  });
  page.wrong = page.wrong.filter((text) => !text.startsWith("Canvas2D: Multiple readback"));  // this test's own, above
  await done(page);
});

test("the matrix's files have what it shows: numbers in CSV and JSON, cells in SVG, pixels in PNG", async () => {
  const page = await browser.page(traces.transformer, "#view=matrix&kind=encoder&layer=2&head=1&note=Look&noted=matrix");
  const map = trace.map("encoder", 2);
  const table = await saved(page, "csv");
  assert.equal(table.name, "attention-matrix-encoder-layer2-head1.csv");
  const rows = rowsOf(table.content);
  assert.equal(rows.length, map.queries * map.keys);
  for (const [query, queryToken, key, keyToken, weight] of rows) {
    assert.equal(queryToken, trace.source.labels[query]);
    assert.equal(keyToken, trace.source.labels[key]);
    assert.ok(Math.abs(weight - map.head(1)[query * map.keys + Number(key)]) <= kStep);
  }
  const json = JSON.parse((await saved(page, "json")).content);
  assert.equal(json.path, map.path);
  assert.equal(json.note, "Look");
  assert.deepEqual(json.rows.map((row) => row[4]), rows.map((row) => Number(row[4])));
  const svg = (await saved(page, "svg")).content.toString();
  const cells = [...svg.matchAll(/data-row="(\d+)" data-column="(\d+)" data-weight="([^"]+)"/gu)];
  assert.equal(cells.length, rows.length);
  for (const [, row, column, weight] of cells) assert.ok(Math.abs(weight - map.head(1)[row * map.keys + Number(column)]) <= 2e-4);
  assert.match(svg, /Matrix: Encoder self-attention · layer 2 · head 1/u);
  assert.match(svg, />Look</u);
  const png = (await saved(page, "png")).content;
  const [wide, tall] = ["width", "height"].map((side) => Number(new RegExp(`^<svg[^>]* ${side}="(\\d+)"`, "u").exec(svg)[1]));
  assert.equal(png.readUInt32BE(16), 2 * wide);
  assert.equal(png.readUInt32BE(20), 2 * tall);
  await done(page);
});

test("a matrix of no cells has no picture to save, and an exported name says what was combined", async () => {
  const page = await browser.page(traces.transformer, "#view=matrix&kind=encoder&layer=1&layers=rollout");
  assert.equal((await saved(page, "csv")).name, "attention-matrix-encoder-rollout-to-layer1-mean.csv");
  await page.locator("summary", { hasText: "Sort and filter" }).click();
  await page.getByLabel("Rows with").fill("no such word");
  await page.locator(".tools summary").click();
  for (const kind of ["svg", "png"]) assert.equal(await page.locator(`[data-key=save-${kind}]`).isVisible(), false);
  assert.equal((await saved(page, "csv")).content.toString().trimEnd().split("\r\n").length, 1);
  await done(page);
});

test("a file is named for what its figure is of: a kind, a layer, a head, or none of these", async () => {
  for (const [view, name, title] of [
    ["heads", "attention-heads-encoder-layer2.svg", /Heads over a word: Encoder self-attention · layer 2</u],
    ["overview", "attention-overview-encoder.svg", /All layers and heads: Encoder self-attention</u],
    ["alignment", "attention-alignment-cross-layer2-mean.svg", /Alignment: Cross-attention · layer 2 · Mean of 4 heads</u],
    ["query_key&layer=0", "attention-query_key-encoder-layer0-head0.svg", /Query and key: Encoder self-attention · layer 0 · head 0</u],
    ["walk", "attention-walk.svg", />Walk</u],
  ]) {
    const page = await browser.page(traces.transformer, `#view=${view}&kind=encoder`);
    const file = await saved(page, "svg");
    assert.equal(file.name, name);
    assert.match(file.content.toString(), title);
    await done(page);
  }
});

test("the table of sinusoids is saved as large as it is seen; a note without spaces stays in the picture", async () => {
  const page = await browser.page(traces.transformer, `#view=positions&positions.width=8&positions.length=4&noted=positions&note=${encodeURIComponent("注意力".repeat(100))}`);
  const svg = (await saved(page, "svg")).content.toString();
  assert.match(svg, /<image [^>]*width="1024" height="512"/u);
  assert.deepEqual(await page.evaluate((text) => {
    const picture = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    document.body.append(picture);
    return [...picture.querySelectorAll("text")].filter((line) => line.getBBox().x + line.getBBox().width > picture.width.baseVal.value).length;
  }, svg), 0);
  await done(page);
});

test("a picture that is too large for a canvas is saved with fewer pixels", async () => {
  const page = await browser.page(long(1600), "#view=heads&heads.pin=q5");
  const { content } = await saved(page, "png");
  assert.equal(content.subarray(1, 4).toString("latin1"), "PNG");
  await done(page);
});

test("the lines over a word are its weights, of the heads that are on", async () => {
  const page = await browser.page(traces.transformer, "#kind=cross&layer=0&heads.on=1.3&heads.pin=q4");
  const map = trace.map("cross", 0);
  const lines = await page.locator(".pair path").evaluateAll((paths) => paths.map((path) => ({ ...path.dataset, width: Number(path.getAttribute("stroke-width")) })));
  const wanted = [1, 3].flatMap((head) => [...Array(map.keys).keys()].map((key) => ({ head, key, weight: map.head(head)[4 * map.keys + key] }))).filter(({ weight }) => weight >= 0.005);
  assert.equal(lines.length, wanted.length);
  for (const { head, key, weight } of wanted) {
    const line = lines.find((one) => Number(one.head) === head && Number(one.key) === key);
    assert.equal(line.query, "4");
    assert.ok(Math.abs(line.width - (1 + 3 * weight)) <= 0.011);
  }
  const means = [...Array(map.keys).keys()].map((key) => (map.head(1)[4 * map.keys + key] + map.head(3)[4 * map.keys + key]) / 2);
  const best = means.indexOf(Math.max(...means));
  const said = await readout(page);
  assert.ok(said.startsWith(`${trace.target.labels[4]} reads`));
  const [first] = /[\d.]+/u.exec(said.slice(said.indexOf(trace.source.labels[best], 8) + trace.source.labels[best].length));
  assert.ok(Math.abs(Number(first) - means[best]) <= 0.0005 + kStep);
  const rows = rowsOf((await saved(page, "csv")).content);
  assert.equal(rows.length, 2 * map.queries * map.keys);
  for (const [head, query, , key, , weight] of rows) assert.ok(Math.abs(weight - map.head(Number(head))[query * map.keys + Number(key)]) <= kStep);
  const svg = (await saved(page, "svg")).content.toString();
  assert.equal(svg.match(/<path /gu).length, wanted.length);
  await done(page);
});

test("all layers and heads: each is named for what it was made to do", async () => {
  const page = await browser.page(traces.bert, "#view=overview");
  const names = await page.locator("tbody tr").first().locator(".role").allTextContents();
  assert.deepEqual(names, ["previous token", "next token", "itself", "special tokens", "special tokens", "punctuation"]);
  const rows = rowsOf((await saved(page, "csv")).content);
  assert.equal(rows.length, 12);
  await page.locator("[data-layer='0'][data-head='2']").click();
  assert.match(page.url(), /view=matrix/u);
  assert.match(await page.locator(".view canvas[tabindex]").getAttribute("aria-label"), /layer 0 · head 2/u);
  await done(page);
});

test("pieces as words: fewer rows and columns, which still sum to one", async () => {
  const page = await browser.page(traces.bert, "#view=matrix&layer=1&head=3");
  await page.locator("summary", { hasText: "Combine" }).click();
  await page.getByLabel("Pieces as words").check();
  assert.match(page.url(), /words=yes/u);
  const rows = rowsOf((await saved(page, "csv")).content);
  const sums = {};
  for (const [query, , , , weight] of rows) sums[query] = (sums[query] ?? 0) + Number(weight);
  assert.equal(Object.keys(sums).length, 11);
  for (const sum of Object.values(sums)) assert.ok(Math.abs(sum - 1) < 1e-3);
  assert.ok(rows.some((row) => row[1] === "uninterruptedly"));
  await done(page);
});

test("of a pair of texts, what one reads of the other", async () => {
  const page = await browser.page(traces.bert, "#view=matrix&layer=1&head=0");
  await page.locator("summary", { hasText: "Combine" }).click();
  await page.getByLabel("Rows of text").selectOption("2");
  await page.getByLabel("Columns of text").selectOption("1");
  const bert = new Trace(traces.bert[0]).map("encoder", 1);
  const rows = rowsOf((await saved(page, "csv")).content);
  assert.equal(rows.length, 7 * 6);
  assert.deepEqual([rows[0][1], rows[0][3]], ["it", "[CLS]"]);
  assert.ok(Math.abs(rows[1][4] - bert.head(0)[6 * 13 + 1]) <= kStep);
  await done(page);
});

test("rollout through the page is rollout of the trace", async () => {
  const page = await browser.page(traces.transformer, "#view=matrix&kind=encoder&layer=2&layers=rollout");
  const wanted = combine(trace, "encoder", 2, { layers: "rollout" }).weights("mean");
  const rows = rowsOf((await saved(page, "csv")).content);
  rows.forEach((row, i) => assert.ok(Math.abs(row[4] - wanted[i]) < 1e-4));
  await done(page);
});

test("over a picture: each patch is as bright as its weight", async () => {
  const page = await browser.page(traces["a picture"], "#view=picture&kind=cross&head=1&picture.query=1");
  const map = new Trace(traces["a picture"][0]).map("cross", 0);
  await page.waitForFunction(() => document.querySelector(".heed-attention").shadowRoot.querySelector(".over image").getAttribute("height") !== "560");
  const patches = await page.locator("[data-weight]").evaluateAll((cells) => cells.map((cell) => ({ ...cell.dataset, dark: Number(cell.getAttribute("fill-opacity")) })));
  assert.equal(patches.length, 12);
  const most = Math.max(...map.head(1).slice(13, 26));
  for (const { row, column, weight, dark } of patches) {
    const wanted = map.head(1)[13 + 1 + 4 * Number(row) + Number(column)];
    assert.ok(Math.abs(weight - wanted) <= 1e-4);
    assert.ok(wanted === most ? dark < 0.1 : dark > 0.7);
  }
  const rows = rowsOf((await saved(page, "csv")).content);
  assert.equal(rows.length, 3 * 12);
  assert.equal((await saved(page, "png")).content.subarray(1, 4).toString("latin1"), "PNG");
  await done(page);
});

test("alignment beside gold: links of the largest weights, and their error rate", async () => {
  const page = await browser.page(traces.transformer, "#view=alignment&head=0");
  const shown = combine(trace, "cross", -1, { words: true, special: false });
  const columns = shown.keys.labels.length;
  const links = shown.queries.labels.map((_, row) => {
    const weights = [...shown.weights(0).subarray(row * columns, (row + 1) * columns)];
    return `${weights.indexOf(Math.max(...weights))}-${row}`;
  });
  const drawn = await page.locator("[data-link]").evaluateAll((marks) => marks.map((mark) => mark.dataset.link));
  assert.deepEqual(drawn, links);
  const sure = trace.gold.filter((link) => link[2]).map(([a, b]) => `${a}-${b}`), all = trace.gold.map(([a, b]) => `${a}-${b}`);
  const hits = (gold) => links.filter((link) => gold.includes(link)).length;
  const aer = 1 - (hits(sure) + hits(all)) / (links.length + sure.length);
  assert.match(await readout(page), new RegExp(`${(100 * aer).toFixed(1)} %`, "u"));
  assert.equal(await page.locator("[data-gold]").count(), trace.gold.length);
  await done(page);
});
