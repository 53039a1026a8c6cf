import assert from "node:assert/strict";
import { test } from "node:test";
import { combine, keepLargest, layerModes, normaliseRows, segmentsOf } from "../combine.js";
import { attentionFlow, flowIsFeasible } from "../flow.js";
import { rollout } from "../rollout.js";
import { Trace } from "../trace.js";
import { randomRows, sumOf } from "./random.js";

const layer = (number, tokens, heads) => ({
  path: `e.${number}`, layer: number, kind: "encoder", heads, queries: tokens, keys: tokens,
  weights: [...Array(heads).keys()].map((head) => randomRows(tokens, tokens, 10 * number + head)),
});
const tokens = ["[CLS]", "the", "tire", "##d", "fox", "[SEP]"];
const trace = new Trace({ source: { tokens }, maps: [layer(0, 6, 2), layer(1, 6, 2), layer(2, 6, 2)] });
const near = (a, b, most = 1e-6) => assert.ok(Math.abs(a - b) <= most, `${a} is not ${b}`);
const rowsOf = (weights, columns) => [...Array(weights.length / columns).keys()].map((row) => weights.subarray(row * columns, (row + 1) * columns));

test("without options it is the layer", () => {
  assert.deepEqual(combine(trace, "encoder", 1).weights(1), trace.map("encoder", 1).head(1));
  assert.deepEqual(combine(trace, "encoder", 1).weights("mean"), trace.map("encoder", 1).mean());
});

test("pieces as words: keys summed, queries averaged, so that rows still sum to one", () => {
  const shown = combine(trace, "encoder", 0, { words: true });
  assert.deepEqual(shown.keys.labels, ["[CLS]", "the", "tired", "fox", "[SEP]"]);
  const whole = trace.map("encoder", 0).head(0), words = shown.weights(0);
  near(words[2 * 5 + 2], (whole[2 * 6 + 2] + whole[2 * 6 + 3] + whole[3 * 6 + 2] + whole[3 * 6 + 3]) / 2);
  for (const row of rowsOf(words, 5)) near(sumOf(row), 1);
});

test("hidden special tokens take their rows and columns along; rows sum to one again when asked", () => {
  const hidden = combine(trace, "encoder", 0, { special: false });
  assert.deepEqual(hidden.queries.labels, ["the", "tire", "·d", "fox"]);
  near(hidden.weights(0)[0], trace.map("encoder", 0).head(0)[7]);
  assert.ok(sumOf(hidden.weights(0).subarray(0, 4)) < 0.999);
  for (const row of rowsOf(combine(trace, "encoder", 0, { special: false, normal: true }).weights(0), 4)) near(sumOf(row), 1);
});

test("of two texts read as one, what the second reads of the first", () => {
  const pair = new Trace({ source: { tokens, segments: [0, 0, 0, 0, 1, 1] }, maps: [layer(0, 6, 2)] });
  const shown = combine(pair, "encoder", 0, { readers: 1, read: 0 });
  assert.deepEqual([shown.queries.labels, shown.keys.labels], [["fox", "[SEP]"], ["[CLS]", "the", "tire", "·d"]]);
  near(shown.weights(1)[5], pair.map("encoder", 0).head(1)[5 * 6 + 1]);
  assert.equal(combine(pair, "encoder", 0, { readers: 7 }).queries.labels.length, 6);
  assert.deepEqual(segmentsOf(trace.source), []);
});

test("top k keeps the largest of each row, a threshold what is at least as large", () => {
  const all = trace.map("encoder", 2).mean();
  const two = combine(trace, "encoder", 2, { top: 2 }).weights("mean");
  for (const [i, row] of rowsOf(two, 6).entries()) {
    const kept = [...row].filter((weight) => weight > 0).sort((a, b) => b - a);
    assert.deepEqual(kept, [...rowsOf(all, 6)[i]].sort((a, b) => b - a).slice(0, 2));
  }
  combine(trace, "encoder", 2, { least: 0.2 }).weights("mean").forEach((weight, i) => assert.equal(weight, all[i] >= Math.fround(0.2) ? all[i] : 0));
  const equal = Float32Array.from([0.25, 0.25, 0.25, 0.25]);
  keepLargest(equal, 4, 2);
  assert.deepEqual([...equal], [0.25, 0.25, 0, 0]);
});

test("the mean over layers", () => {
  const mean = combine(trace, "encoder", 0, { layers: "mean" }).weights(1);
  mean.forEach((weight, i) => near(weight, [0, 1, 2].reduce((sum, n) => sum + trace.map("encoder", n).head(1)[i], 0) / 3));
});

test("a row of zeros stays so when rows are normalised", () => {
  const weights = Float32Array.from([0, 0, 1, 3]);
  normaliseRows(weights, 2);
  assert.deepEqual([...weights], [0, 0, 0.25, 0.75]);
});

test("rollout is the product of the layers with half of each one's input, and its rows sum to one", () => {
  const layers = [0, 1].map((n) => trace.map("encoder", n).mean());
  const rolled = rollout(layers, 6);
  const half = (weights, row, column) => weights[row * 6 + column] / 2 + (row === column ? 0.5 : 0);
  for (let row = 0; row < 6; ++row) {
    for (let column = 0; column < 6; ++column) {
      let sum = 0;
      for (let middle = 0; middle < 6; ++middle) sum += half(layers[1], row, middle) * half(layers[0], middle, column);
      near(rolled[row * 6 + column], sum);
    }
  }
  for (const row of rowsOf(combine(trace, "encoder", 2, { layers: "rollout" }).weights("mean"), 6)) near(sumOf(row), 1, 1e-5);
  assert.deepEqual(combine(trace, "encoder", 2, { layers: "rollout" }).heads, []);
});

test("rollout of a layer that reads itself alone is itself", () => {
  assert.deepEqual([...rollout([Float32Array.from([1, 0, 0, 1])], 2)], [1, 0, 0, 1]);
});

// The maximum flow by trying every cut of a small network (Ford and Fulkerson's theorem).
function smallestCut(layers, tokens, from, to) {
  const half = (weights, row, column) => weights[row * tokens + column] / 2 + (row === column ? 0.5 : 0);
  const nodes = (layers.length + 1) * tokens;
  const source = layers.length * tokens + from;
  let best = Infinity;
  for (let side = 0; side < 2 ** nodes; ++side) {
    const has = (node) => (side >> node) & 1;
    if (!has(source) || has(to)) continue;
    let cut = 0;
    layers.forEach((weights, layer) => {
      for (let row = 0; row < tokens; ++row) {
        for (let column = 0; column < tokens; ++column) {
          if (has((layer + 1) * tokens + row) && !has(layer * tokens + column)) cut += half(weights, row, column);
        }
      }
    });
    best = Math.min(best, cut);
  }
  return best;
}

test("attention flow is the smallest cut between a position and an input", () => {
  const layers = [randomRows(3, 3, 5), randomRows(3, 3, 6), randomRows(3, 3, 7)].map((rows) => Float32Array.from(rows.flat()));
  const flows = attentionFlow(layers, 3);
  for (let from = 0; from < 3; ++from) {
    for (let to = 0; to < 3; ++to) near(flows[from * 3 + to], smallestCut(layers, 3, from, to), 1e-5);
  }
});

test("flow is offered where it can be computed, and self-attention alone is rolled out", () => {
  assert.ok(flowIsFeasible(24, 12));
  assert.ok(!flowIsFeasible(128, 12));
  assert.deepEqual(layerModes(trace, "encoder"), ["one", "mean", "rollout", "flow"]);
  const cross = { ...layer(0, 6, 1), kind: "cross" };
  const both = new Trace({ source: { tokens }, target: { tokens }, maps: [cross, { ...cross, path: "c.1" }] });
  assert.deepEqual(layerModes(both, "cross"), ["one", "mean"]);
  assert.equal(combine(both, "cross", 0, { layers: "rollout" }).options.layers, "one");
});
