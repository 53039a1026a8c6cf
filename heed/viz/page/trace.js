// The traces of the page's data: what a model attended to, with names for what views ask.
//
//   const trace = new Trace(file.traces[0]);
//   const map = trace.map("cross", -1);            // of the last layer
//   map.head(0)[query * map.keys + key];           // a weight
//   trace.side("cross", "queries").labels;         // what stands beside the rows
//
// The form is that of docs/trace.md, the arrays packed as arrays.js says.

import { numbers } from "./arrays.js";
import { labelsOf, specialOf, visible, wordsOf } from "./tokens.js";

export const kinds = ["cross", "encoder", "decoder"];

// What a map's queries and keys are: the words of which side.
const sidesOf = {
  cross: { queries: "target", keys: "source" },
  encoder: { queries: "source", keys: "source" },
  decoder: { queries: "decoder", keys: "decoder" },
};

// A value that is made when it is first asked for.
function lazy(object, name, make) {
  Object.defineProperty(object, name, {
    configurable: true,
    enumerable: true,
    get() {
      const value = make();
      Object.defineProperty(object, name, { value, enumerable: true });
      return value;
    },
  });
}

// One attention layer: path, layer (a number or null), kind, heads, queries, keys; weights: Float32Array [heads,
// queries, keys]; q [heads, queries, d], k [key heads, keys, d] and bias [1 or heads, queries, keys], which was added
// to the scores, as { shape, values }, or null; scale, or null. Layers that a number does not tell apart have null.
class AttentionMap {
  constructor(json) {
    const { path, layer = null, kind, heads, queries, keys, scale = null } = json;
    Object.assign(this, { path: visible(path), layer, kind, heads, queries, keys, scale });
    lazy(this, "weights", () => numbers(json.weights).values);
    lazy(this, "q", () => (json.q ? numbers(json.q) : null));
    lazy(this, "k", () => (json.k ? numbers(json.k) : null));
    lazy(this, "bias", () => (json.bias ? numbers(json.bias) : null));
    this.hasQueriesAndKeys = Boolean(json.q && json.k);
  }

  get name() {
    return this.layer === null ? this.path : String(this.layer);
  }

  // The weights [queries, keys] of one head: a view into all.
  head(number) {
    const cells = this.queries * this.keys;
    return this.weights.subarray(number * cells, (number + 1) * cells);
  }

  // The mean of the given heads, of all where none are given; of one, that head's view.
  mean(heads = [...Array(this.heads).keys()]) {
    if (heads.length === 1) return this.head(heads[0]);
    const cells = this.queries * this.keys;
    const sum = new Float32Array(cells);
    for (const number of heads) {
      const weights = this.head(number);
      for (let i = 0; i < cells; ++i) sum[i] += weights[i];
    }
    for (let i = 0; i < cells; ++i) sum[i] /= heads.length;
    return sum;
  }
}

// One side: text; tokens as the vocabulary has them; labels as a reader reads them; words: the number of each token's
// word, or picture's patch, -1 for a special token; special: whether each is; segments: the number of each token's
// text, or null; grid { rows, columns } of a picture's patches, or null; seconds that a frame of sound lasts, or null.
function sideOf(json) {
  const { words = null, segments = null, grid = null, seconds = null } = json ?? {};
  const tokens = (json?.tokens ?? []).map(visible);
  const side = { text: visible(json?.text ?? ""), tokens, segments, grid, seconds };
  lazy(side, "special", () => specialOf(tokens, words));
  lazy(side, "words", () => wordsOf(tokens, words));
  lazy(side, "labels", () => labelsOf(side));
  return side;
}

export class Trace {
  constructor(json) {
    this.model = visible(json.model ?? "");
    this.source = sideOf(json.source);
    this.decoder = sideOf(json.decoder);
    this.target = sideOf(json.target);
    this.maps = json.maps.map((map) => new AttentionMap(map));
    for (const kind of kinds) {
      const own = this.mapsOf(kind);
      const unclear = new Set(own.map((map) => map.layer)).size < own.length;
      if (unclear) for (const map of own) map.layer = null;
    }
    this.steps = json.steps ?? null;
    this.gold = json.gold ?? null;
    this.image = json.image ?? null;
    // { source | decoder: { before, after: { shape: [tokens, d], values } } }, where the trace has them.
    lazy(this, "embeddings", () => {
      const sides = {};
      for (const [side, { before, after }] of Object.entries(json.embeddings ?? {})) {
        sides[side] = { before: numbers(before), after: numbers(after) };
      }
      return sides;
    });
  }

  // The kinds of attention that there are, cross-attention first.
  get kinds() {
    return kinds.filter((kind) => this.maps.some((map) => map.kind === kind));
  }

  mapsOf(kind) {
    return this.maps.filter((map) => map.kind === kind);
  }

  // The map at a position among those of its kind; the last one for -1 and for a position that there is not.
  map(kind, position) {
    const maps = this.mapsOf(kind);
    return maps[position >= 0 && position < maps.length ? position : maps.length - 1];
  }

  // The side that a kind's "queries" or "keys" are.
  side(kind, axis) {
    return this[sidesOf[kind][axis]];
  }

  // What a list of traces calls this one.
  get title() {
    return this.source.text || this.target.text || this.source.labels.join(" ") || this.target.labels.join(" ");
  }
}
