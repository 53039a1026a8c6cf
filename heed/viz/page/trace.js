// The traces of the page's data: what a model attended to, with names for what views ask.
//
//   const trace = new Trace(data.traces[0]);
//   const map = trace.map("cross", -1);            // of the last layer
//   map.head(0)[query * map.keys + key];           // a weight
//   trace.side("cross", "queries").labels;         // what stands beside the rows
//
// The form is that of heed/observe/trace.h: { model, source, decoder, target: { text, tokens, words, grid, seconds },
// maps: [{ path, layer, kind, heads, queries, keys, weights, q, k, scale }], embeddings, steps, gold, image }.

import { numbers } from "./arrays.js";
import { labelsOf, specialOf, wordsOf } from "./tokens.js";

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
// queries, keys]; q [heads, queries, d] and k [key heads, keys, d] as { shape, values }, or null; scale, or null.
export class AttentionMap {
  constructor(json) {
    const { path, layer = null, kind, heads, queries, keys, scale = null } = json;
    Object.assign(this, { path, layer, kind, heads, queries, keys, scale });
    lazy(this, "weights", () => numbers(json.weights).values);
    lazy(this, "q", () => (json.q ? numbers(json.q) : null));
    lazy(this, "k", () => (json.k ? numbers(json.k) : null));
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

  // The mean of the given heads, of all where none are given.
  mean(heads = [...Array(this.heads).keys()]) {
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
// word, -1 for a special token; special: whether each is; grid { rows, columns } of a picture's patches, or null;
// seconds of a frame of sound, or null; name: "source", "decoder" or "target".
function sideOf(json, name) {
  const tokens = json?.tokens ?? [];
  const side = { name, text: json?.text ?? "", tokens, grid: json?.grid ?? null, seconds: json?.seconds ?? null };
  lazy(side, "special", () => specialOf(tokens, json?.words));
  lazy(side, "words", () => wordsOf(tokens, json?.words));
  lazy(side, "labels", () => labelsOf(side));
  return side;
}

export class Trace {
  constructor(json) {
    this.model = json.model ?? "";
    this.source = sideOf(json.source, "source");
    this.decoder = sideOf(json.decoder, "decoder");
    this.target = sideOf(json.target, "target");
    this.maps = json.maps.map((map) => new AttentionMap(map));
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
    this.hasEmbeddings = Object.keys(json.embeddings ?? {}).length > 0;
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
