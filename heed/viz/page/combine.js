// What is shown of a layer: its heads one by one or as a mean, several layers as one, pieces as words.
//
//   const shown = combine(trace, "cross", -1, { words: true });
//   shown.weights("mean")[row * shown.keys.labels.length + column];
//
// Options, in the order in which they act:
//   layers   "one": the layer itself; "mean": the mean over the layers of its kind; "rollout", "flow": through the
//            layers up to this one (rollout.js, flow.js), of the mean over heads
//   words    pieces of a word as one: keys' weights are summed, queries' averaged, so that a row still sums to one
//   special  false: no special tokens
//   readers, read   of several texts read as one (BERT's pairs), rows and columns of this text alone (-1: of all)
//   normal   each row divided by its sum
//   least    smaller weights are 0
//   top      all but the `top` largest of a row are 0 (0: all stay)

import { attentionFlow, flowIsFeasible } from "./flow.js";
import { rollout } from "./rollout.js";
import { joined } from "./tokens.js";

export const defaults = { layers: "one", words: false, special: true, readers: -1, read: -1, normal: false, least: 0, top: 0 };
export const fractions = ["least"];

// The numbers of the texts that a side has, where it has several.
export function segmentsOf(side) {
  const there = [...new Set(side.segments ?? [])].sort((a, b) => a - b);
  return there.length > 1 ? there : [];
}

// One axis of what is shown: its labels, for each the numbers of the side's tokens that it stands for, and the number
// of its word.
function axisOf(side, { words, special }, segment) {
  const parts = [];
  const segments = segmentsOf(side);
  side.tokens.forEach((_, i) => {
    if (!special && side.special[i]) return;
    if (segments.includes(segment) && side.segments[i] !== segment) return;
    const last = parts.at(-1);
    const goes_on = words && last && side.words[i] >= 0 && side.words[i] === side.words[last.at(-1)];
    if (goes_on) last.push(i);
    else parts.push([i]);
  });
  return {
    side, parts, labels: parts.map((part) => joined(part.map((i) => side.labels[i]))), words: parts.map(([first]) => side.words[first]),
  };
}

// Which ways of taking layers together there are for a kind of a trace.
export function layerModes(trace, kind) {
  const maps = trace.mapsOf(kind);
  const modes = maps.length > 1 ? ["one", "mean"] : ["one"];
  const self = kind !== "cross";
  if (self && maps.length > 1) modes.push("rollout");
  if (self && maps.length > 1 && flowIsFeasible(maps[0].queries, maps.length)) modes.push("flow");
  return modes;
}

function ofOneLayer(map, head) {
  return head === "mean" || head >= map.heads ? map.mean() : map.head(head);
}

function ofLayers(trace, kind, position, head, mode) {
  const maps = trace.mapsOf(kind);
  if (mode === "mean") {
    const sum = new Float32Array(maps[0].queries * maps[0].keys);
    for (const map of maps) ofOneLayer(map, head).forEach((weight, i) => (sum[i] += weight / maps.length));
    return sum;
  }
  const map = trace.map(kind, position);
  if (mode === "one") return ofOneLayer(map, head);
  const below = maps.slice(0, maps.indexOf(map) + 1).map((one) => one.mean());
  return mode === "rollout" ? rollout(below, map.queries) : attentionFlow(below, map.queries);
}

// Rows and columns of tokens to rows and columns of what is shown.
function grouped(weights, columns, rowParts, columnParts) {
  const out = new Float32Array(rowParts.length * columnParts.length);
  rowParts.forEach((queries, row) => {
    columnParts.forEach((keys, column) => {
      let sum = 0;
      for (const query of queries) for (const key of keys) sum += weights[query * columns + key];
      out[row * columnParts.length + column] = sum / queries.length;
    });
  });
  return out;
}

export function normaliseRows(weights, columns) {
  for (let at = 0; at < weights.length; at += columns) {
    const row = weights.subarray(at, at + columns);
    const sum = row.reduce((total, weight) => total + weight, 0);
    if (sum > 0) row.forEach((weight, i) => (row[i] = weight / sum));
  }
}

// Keeps a row's `top` largest weights; of equal ones, the first.
export function keepLargest(weights, columns, top) {
  for (let at = 0; at < weights.length; at += columns) {
    const row = weights.subarray(at, at + columns);
    const order = [...row.keys()].sort((a, b) => row[b] - row[a] || a - b);
    for (const i of order.slice(top)) row[i] = 0;
  }
}

const identity = (parts, tokens) => parts.length === tokens && parts.every((part) => part.length === 1);

export function combine(trace, kind, position, asked = {}) {
  const options = { ...defaults, ...asked };
  if (!layerModes(trace, kind).includes(options.layers)) options.layers = "one";
  const map = trace.map(kind, position);
  const queries = axisOf(trace.side(kind, "queries"), options, options.readers);
  const keys = axisOf(trace.side(kind, "keys"), options, options.read);
  const columns = keys.parts.length;
  const oneHead = map.heads === 1 || options.layers === "rollout" || options.layers === "flow";
  const made = new Map();

  function make(head) {
    let weights = ofLayers(trace, kind, position, head, options.layers);
    const whole = identity(queries.parts, map.queries) && identity(keys.parts, map.keys);
    weights = whole ? weights.slice() : grouped(weights, map.keys, queries.parts, keys.parts);
    if (options.normal) normaliseRows(weights, columns);
    if (options.least > 0) weights.forEach((weight, i) => weight < options.least && (weights[i] = 0));
    if (options.top > 0 && options.top < columns) keepLargest(weights, columns, options.top);
    return weights;
  }

  return {
    kind, map, queries, keys, options,
    // The heads that can be told apart; none where layers were taken together by rollout or flow.
    heads: oneHead && map.heads > 1 ? [] : [...Array(map.heads).keys()],
    // Float32Array [queries, keys] of "mean" or a head's number.
    weights(head) {
      const which = oneHead ? "mean" : head;
      if (!made.has(which)) made.set(which, make(which));
      return made.get(which);
    },
  };
}
