// The views that teach: what they show is what the trace has, what heed explain computes, and what a reader changes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { randomRows } from "../../heed/viz/page/tests/random.js";
import { queryRow, softmax } from "../../heed/viz/page/attention.js";
import { numberStyle } from "../../heed/viz/page/walks/matrices.js";
import { walks } from "../../heed/viz/page/walks/all.js";
import { accessible, done, open, outside } from "./browser.mjs";

const { HEED } = process.env;
let browser;
before(async () => (browser = await open()));
after(() => browser.close());

// A translation whose weights are softmax(q k^T / 2), with the search that found it.
const source = ["▁a", "▁small", "▁house", "</s>"], target = ["▁ein", "▁kleines", "▁Haus", "</s>"];
const vectors = (heads, rows, seed) => [...Array(heads).keys()].map((head) =>
  randomRows(rows, 4, seed + head, false).map((row) => row.map((x) => Number((8 * x - 2).toFixed(3)))));
function attention(kind, seed, causal) {
  const q = vectors(2, 4, seed), k = vectors(1, 4, seed + 50);
  const weights = q.map((rows) => rows.map((query, i) => softmax(k[0].map((key, j) =>
    (causal && j > i ? -Infinity : query.reduce((sum, x, d) => sum + x * key[d], 0) / 2)))));
  return { path: `${kind}.layers.0.attention`, layer: 0, kind, heads: 2, queries: 4, keys: 4, weights, q, k, scale: 0.5 };
}
const step = (...hypotheses) => ({ hypotheses: hypotheses.map(([parent, token, probability, total]) => ({
  parent, token, log_probability: Math.log(probability), total,
  candidates: [{ token, probability }, { token: "▁x", probability: (1 - probability) / 2 }],
})) });
const trace = {
  model: "small",
  source: { text: "a small house", tokens: source }, decoder: { text: "", tokens: ["<s>", ...target.slice(0, 3)] },
  target: { text: "ein kleines Haus", tokens: target },
  maps: [attention("cross", 1, false), attention("decoder", 7, true)],
  embeddings: { source: { before: vectors(1, 4, 90)[0], after: vectors(1, 4, 95)[0] } },
  steps: [
    step([-1, "▁ein", 0.6, -0.51], [-1, "▁das", 0.3, -1.2]),
    step([1, "▁kleine", 0.8, -1.43], [0, "▁kleines", 0.5, -1.2]),
    step([1, "▁Haus", 0.9, -1.31], [0, "▁Haus", 0.7, -1.79]),
    step([0, "</s>", 0.95, -1.36], [1, "</s>", 0.9, -1.9]),
  ],
};

const numbers = (text) => text.trim().split(/\s+/u).map((word) => Number(word.replace("−", "-").replace("∞", "Infinity")));

test("query and key: the products, scores and weights of every key are those of the trace", async () => {
  const page = await browser.page([trace], "#view=query_key&head=1&query_key.query=2");
  const { q, k, weights, scale } = trace.maps[0];
  const row = queryRow({ q: q[1][2], keys: k[0], scale, weights: weights[1][2] });
  for (const [j, label] of ["a", "small", "house", "</s>"].entries()) {
    const line = page.locator(".listing tbody tr").nth(j);
    assert.equal(await line.locator("th").textContent(), label);
    const seen = numbers((await line.locator("td").allTextContents()).join(" "));
    for (const [at, wanted] of [[0, row.products[j]], [1, row.scaled[j]], [2, 0], [3, Math.exp(row.scaled[j])], [4, weights[1][2][j]]]) {
      assert.ok(Math.abs(seen[at] - wanted) <= 2e-3 * Math.max(1, Math.abs(wanted)), `${label} ${at}: ${seen[at]} instead of ${wanted}`);
    }
  }
  await page.locator(".tokens.of-key .token").nth(1).click();
  assert.match(page.url(), /query_key\.key=1/u);
  const sum = page.locator(".dimension-bars .readout");
  assert.ok(Math.abs(numbers((await sum.textContent()).match(/to (\S+)\.$/u)[1])[0] - row.products[1]) < 2e-3);
  await page.locator(".dimensions").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("[role=status]").textContent(), /^Dimension 0: /u);
  const [x, y, product] = (await sum.textContent()).match(/−?\d+\.\d+/gu).map((word) => numbers(word)[0]);
  assert.ok(Math.abs(x - q[1][2][0]) < 1e-3 && Math.abs(y - k[0][1][0]) < 1e-3 && Math.abs(product - x * y) < 0.02);
  await accessible(page, "query and key");
  await done(page);
});

test("query and key: a later key is masked, and every head has the keys that it shares", async () => {
  const page = await browser.page([trace], "#view=query_key&kind=decoder&head=0&query_key.query=1&query_key.key=3");
  assert.deepEqual((await page.locator(".listing tbody tr td:nth-of-type(3)").allTextContents()), ["0.000", "0.000", "−∞", "−∞"]);
  assert.match(await page.locator(".qk-equations").textContent(), /causal mask/u);
  await page.locator(".tokens.of-query .token").nth(3).click();
  assert.doesNotMatch(await page.locator(".qk-equations").textContent(), /causal mask/u);
  const { q, k, scale, weights } = trace.maps[1];
  for (const head of [0, 1]) {
    await page.getByRole("combobox", { name: "Head" }).selectOption(String(head));
    const row = queryRow({ q: q[head][3], keys: k[0], scale, weights: weights[head][3] });
    const products = (await page.locator(".listing tbody tr td:nth-of-type(1)").allTextContents()).map((text) => numbers(text)[0]);
    products.forEach((product, j) => assert.ok(Math.abs(product - row.products[j]) <= 2e-3 * Math.max(1, Math.abs(row.products[j]))));
  }
  await done(page);
});

test("steps: by hand, by keyboard, played and paused; the answer's path, the candidates and what was read", async () => {
  const page = await browser.page([trace], "#view=steps");
  const written = () => page.locator(".steps-written").textContent();
  assert.equal(await written(), "ein kleines Haus </s>");
  assert.equal(await page.locator(".tree .node").count(), 8);
  await page.getByRole("button", { name: "Back" }).click();
  assert.equal(await written(), "ein kleines Haus");
  assert.equal(await page.locator(".tree .node").count(), 6);
  const shares = (await page.locator(".reads .token small").allTextContents()).map((text) => parseInt(text, 10));
  const { weights } = trace.maps[0];
  shares.forEach((share, j) => assert.ok(Math.abs(share - 50 * (weights[0][2][j] + weights[1][2][j])) <= 0.6));
  await page.locator(".steps-tree").focus();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await written(), "ein kleines");
  assert.match(await page.locator(".candidates tbody").textContent(), /^kleines ✓0\.500/u);
  await page.keyboard.press("ArrowUp");
  assert.equal(await written(), "das kleine");
  assert.match(await page.locator("[role=status]").textContent(), /kleine, 80 %/u);
  assert.equal(await page.locator(".reads").isVisible(), false);
  await accessible(page, "steps");
  await page.keyboard.press("Home");
  await page.keyboard.press(" ");
  assert.equal(await page.getByRole("button", { name: "Pause" }).count(), 1);
  await page.waitForFunction(() => location.hash.includes("steps.step=1"));
  await page.getByRole("button", { name: "Pause" }).click();
  assert.equal(await page.getByRole("button", { name: "Play" }).count(), 1);
  await done(page);
});

test("tokens and positions: every token on the plane; the sliders change table, curves and wavelengths", async () => {
  const page = await browser.page([trace], "#view=positions&positions.shown=before");
  assert.deepEqual(await page.locator(".scatter text[font-size='12.5']").allTextContents(), ["a", "small", "house", "</s>"]);
  assert.equal(await page.locator(".scatter line").count(), 0);
  await page.getByRole("button", { name: "From before to after" }).click();
  assert.equal(await page.locator(".scatter line").count(), 4);
  const set = (key, value) => page.locator(`[data-key=positions-${key}]`).fill(String(value));
  await set("width", 8);
  await set("position", 3);
  await set("dimension", 2);
  assert.equal(await page.locator(".view > section:last-child .readout").textContent(),
               `Position 3, dimension 2: ${Math.sin(0.3).toFixed(3)}; one turn takes 62.8 positions`);
  assert.deepEqual(await page.locator(".wavelengths td").allTextContents(), ["6.28", "62.83", "628.32", "6283"]);
  assert.deepEqual(await page.locator("canvas.sinusoids").evaluate((canvas) => [canvas.width, canvas.height]), [8, 64]);
  assert.match(page.url(), /positions\.width=8/u);
  await done(page);
});

// The numbers that a step shows, of each of its tables.
const shown = (page) => page.locator(".walk-panel table.matrix").evaluateAll((tables) => tables.map((table) => [...table.querySelectorAll("tbody tr")]
  .map((row) => [...row.querySelectorAll("td:not(.cut)")].map((cell) => cell.querySelector("input")?.value ?? cell.textContent))));
const explain = (...options) => JSON.parse(execFileSync(HEED, ["explain", "--json", ...options], { encoding: "utf8" }));
const written = ({ name, values: given }) => {
  const values = given.map((row) => row.map((x) => x ?? -Infinity)), text = numberStyle(values);
  return values.map((row) => row.map((x) => (x === 0 && (name === "allowed" || name === "reads") ? "·" : text(x))));
};

for (const { id } of walks.filter((walk) => walk.id !== "windows" && walk.id !== "thinking-machines")) {
  test(`the walk ${id}: clicked through, every computed number is heed explain's`, async () => {
    const page = await browser.page([trace], `#view=walk&walk.example=${id}`);
    const { steps } = explain("--example", id);
    for (const [i, { name, matrices }] of steps.entries()) {
      assert.equal(await page.locator(".walk-steps [aria-current=step] .number").textContent(), String(i + 1));
      const tables = (await shown(page)).map((table) => JSON.stringify(table));
      for (const matrix of matrices) {
        const given = JSON.stringify(matrix.values.map((row) => row.map(String)));
        const wanted = JSON.stringify(written(matrix));
        assert.ok(tables.includes(wanted) || tables.includes(given), `${id} ${name} ${matrix.name}: ${wanted} is not among ${tables.join(" ")}`);
      }
      if (i + 1 < steps.length) await page.getByRole("button", { name: "Next step" }).click();
    }
    assert.equal(await page.getByRole("button", { name: "Next step" }).isDisabled(), true);
    await done(page);
  });
}

test("a number that is changed changes everything after it, as heed explain has it, and comes back", async () => {
  const page = await browser.page([trace], "#view=walk");
  await page.getByLabel("Q q1, d2").fill("1.5");
  await page.getByRole("button", { name: "Next step" }).click();
  const { steps } = explain("--q", "[[1, 1.5, 1], [0, 1, 1]]", "--k", "[[1, 1, 0], [0, 1, 1]]", "--v", "[[1, 2], [3, 4]]");
  for (const name of ["scores", "scaled", "masked", "exponentials", "weights", "output"]) {
    const { matrices } = steps.find((one) => one.name === name);
    assert.ok((await shown(page)).map((table) => JSON.stringify(table)).includes(JSON.stringify(written(matrices[0]))), name);
    if (name !== "output") await page.getByRole("button", { name: "Next step" }).click();
  }
  const command = await page.locator(".walk-command").textContent();
  assert.equal(command, "heed explain --q '[[1,1.5,1],[0,1,1]]' --k '[[1,1,0],[0,1,1]]' --v '[[1,2],[3,4]]'");
  const address = page.url();
  await page.goto("about:blank");
  await page.goto(address);
  assert.match(await page.locator(".walk-how").textContent(), /output/u);
  await page.getByRole("button", { name: "The example's own numbers" }).click();
  assert.doesNotMatch(page.url(), /numbers/u);
  await done(page);
});

test("a number says how it came about, and marks what it came from; by keyboard too", async () => {
  const page = await browser.page([trace], "#view=walk&walk.step=1");
  const result = page.locator(".walk-panel table.matrix").last();
  await result.locator("td[tabindex='0']").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const how = await page.locator(".walk-how math").evaluateAll((all) => all.map((node) => node.getAttribute("alttext")).join(" "));
  assert.equal(how.replaceAll(/\s+/gu, " "), "scores_q2, k2 = 0 × 0 + 1 × 1 + 1 × 1 = 2");
  assert.equal(await page.locator("td.source").count(), 6);
  await page.locator(".walk-steps button[aria-current]").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(page.url(), /walk\.step=2/u);
  assert.match(await page.locator("[role=status]").textContent(), /^Step 3 of 7/u);
  await done(page);
});

test("what is typed halfway is no number yet, and does no harm", async () => {
  const page = await browser.page([trace], "#view=walk");
  const cell = page.getByLabel("Q q1, d1");
  await cell.fill("");
  assert.equal(await cell.getAttribute("aria-invalid"), "");
  assert.doesNotMatch(page.url(), /numbers/u);
  await cell.blur();
  assert.equal(await cell.inputValue(), "1");
  await cell.fill("-3");
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes("Q:-3,0,1;0,1,1"));
  await done(page);
});

test("tiles of another size give the same output; windows and strides change what is seen", async () => {
  const page = await browser.page([trace], "#view=walk&walk.example=flash-attention");
  await page.locator("[data-key=walk-keys]").fill("3");
  assert.equal(await page.locator(".walk-steps li").count(), 5);
  await page.locator(".walk-steps button").last().click();
  const { steps } = explain("--example", "flash-attention");
  assert.ok((await shown(page)).map((table) => JSON.stringify(table)).includes(JSON.stringify(written(steps.at(-1).matrices[2]))));
  await page.getByLabel("Example").selectOption("windows");
  await page.locator(".walk-steps button").nth(2).click();
  const open = () => page.locator("table.pattern td").evaluateAll((cells) => cells.filter((cell) => cell.textContent === "1").length);
  assert.equal(await open(), 33);
  await page.locator("[data-key=walk-left]").fill("0");
  assert.equal(await open(), 12);
  await done(page);
});

test("heed explain writes a page that opens at its walk, with a reader's own numbers, and needs no trace", async () => {
  const path = join(browser.folder, "walk.html");
  const make = (...options) => execFileSync(HEED, ["explain", ...options, "--out", path], { stdio: ["ignore", "ignore", "inherit"] });
  make("--example", "luong", "--language", "zh");
  const page = await browser.visit(path);
  assert.match(await page.locator(".walk-introduction").textContent(), /解码器已到达状态/u);
  assert.equal(await page.locator("[role=tab]").count(), 2);
  assert.deepEqual(page.requests, [`file://${path}`]);
  await accessible(page, "a page without traces");
  await done(page);
  make("--q", "[[2, 1e20]]", "--k", "[[1, 0], [0, 1e-20], [1, 1]]", "--v", "[[1], [2], [3]]", "--mask", "causal");
  const own = await browser.visit(path, "", { width: 390, dark: true });
  assert.deepEqual((await shown(own)).slice(0, 2), [[["2", "100000000000000000000"]], [["1", "0"], ["0", "1e-20"], ["1", "1"]]]);
  assert.equal(await own.getByLabel("Causal mask").isChecked(), true);
  assert.deepEqual(await outside(own), []);
  await done(own);
  make("--example", "positions", "--length", "20", "--width", "6");
  const positions = await browser.visit(path);
  assert.deepEqual(await positions.locator("canvas.sinusoids").evaluate((canvas) => [canvas.width, canvas.height]), [6, 20]);
  await done(positions);
});
