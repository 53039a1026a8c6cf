// Traces to make pages of: what models of each kind attend to, in form 2 (docs/trace.md), with weights that are
// known here.
import { deflateSync } from "node:zlib";
import { randomRows } from "../../heed/viz/page/tests/random.js";
import { wordsOf } from "../../heed/viz/page/tokens.js";

function maps(kind, layers, heads, queries, keys, seed, peaks = () => null) {
  const causal = kind === "decoder";
  return [...Array(layers).keys()].map((layer) => ({
    path: `${kind}.layers.${layer}.attention`, layer, kind, heads, queries, keys,
    weights: [...Array(heads).keys()].map((head) => peaks(layer, head) ?? randomRows(queries, keys, seed + 100 * layer + head, causal)),
  }));
}

// Rows with most of their weight on one column.
const peaked = (queries, keys, column) => [...Array(queries).keys()].map((query) =>
  [...Array(keys).keys()].map((key) => (key === column(query) ? 0.9 + 0.1 / keys : 0.1 / keys)));

const side = (text, tokens, numbered = false) => ({ text, tokens, ...(numbered ? { words: wordsOf(tokens) } : {}) });
const none = { text: "", tokens: [] };

function translation({ model, source, target, layers = 3, heads = 4, kinds = ["encoder", "decoder", "cross"], seed = 1, gold }) {
  const read = source.tokens, answered = [...target.tokens, "</s>"], given = ["<s>", ...target.tokens];
  const m = read.length, n = answered.length;
  const all = {
    encoder: () => maps("encoder", layers, heads, m, m, seed),
    decoder: () => maps("decoder", layers, heads, n, n, seed + 10),
    cross: () => maps("cross", layers, heads, n, m, seed + 20,
      (layer, head) => (layer === layers - 1 && head === 0 ? peaked(n, m, (query) => Math.min(query, m - 1)) : null)),
  };
  return {
    model, source: side(source.text, read, Boolean(gold)), decoder: side(target.text, given), target: side(target.text, answered, Boolean(gold)),
    maps: kinds.flatMap((kind) => all[kind]()), ...(gold ? { gold } : {}),
  };
}

const words = (text) => text.replaceAll(/([.,])/gu, " $1").split(" ");
const marked = (text) => words(text).map((word) => (/^[.,]$/u.test(word) ? word : `▁${word}`));

const tired = { text: "Das Tier lief nicht, weil es zu müde war.", tokens: [...marked("Das Tier lief nicht, weil es zu"), "▁mü", "de", "▁war", ".", "</s>"] };
const wide = { text: "Das Tier lief nicht, weil sie zu breit war.", tokens: [...marked("Das Tier lief nicht, weil sie zu breit war."), "</s>"] };
const english = (last) => ({ text: `The animal did not run because it was too ${last}.`, tokens: marked(`The animal did not run because it was too ${last}.`) });

// Gold of words: "nicht," and "tired." are words of two pieces each, as the marks say.
const gold = [[0, 0, true], [1, 1, true], [2, 4, true], [3, 3, true], [3, 2, false], [4, 5, true], [5, 6, true], [8, 7, true], [6, 8, true], [7, 9, true]];

// A self-attention map whose queries and keys give its weights.
function withQueriesAndKeys(trace) {
  const map = trace.maps.find((one) => one.kind === "encoder");
  const width = 4, scale = 0.5;
  const draw = (count, seed) => [...Array(map.heads).keys()].map((head) =>
    randomRows(count, width, seed + head).map((row) => row.map((value) => Math.fround(8 * value - 2))));
  map.q = draw(map.queries, 300);
  map.k = draw(map.keys, 400);
  map.scale = scale;
  map.weights = map.q.map((rows, head) => rows.map((q) => {
    const raised = map.k[head].map((k) => Math.exp(scale * q.reduce((sum, value, i) => sum + value * k[i], 0)));
    const total = raised.reduce((a, b) => a + b, 0);
    return raised.map((value) => value / total);
  }));
  return trace;
}

// Four by three pixels, red, green and blue ones.
const picture = `data:image/png;base64,${png(4, 3)}`;

function png(width, height) {
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; ++y) for (let x = 0; x < width; ++x) rows[y * (1 + 3 * width) + 1 + 3 * x + ((x + y) % 3)] = 255;
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
    const framed = Buffer.alloc(body.length + 8);
    framed.writeUInt32BE(data.length, 0);
    body.copy(framed, 4);
    framed.writeUInt32BE(crc32(body), body.length + 4);
    return framed;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]).toString("base64");
}

// As PNG has it (ISO/IEC 15948, annex D); node has its own from 22 on.
function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

export const traces = {
  transformer: [
    withQueriesAndKeys(translation({ model: "a Transformer", source: tired, target: english("tired"), gold })),
    translation({ model: "a Transformer", source: wide, target: english("wide"), seed: 1000 }),
  ],
  bahdanau: [translation({ model: "an RNN with Bahdanau's attention", source: tired, target: english("tired"), layers: 1, heads: 1, kinds: ["cross"] })],
  "language model": [(() => {
    const tokens = ["<|endoftext|>", "The", "Ġanimal", "Ġdid", "Ġnot", "Ġcross", "Ġthe", "Ġstreet", "."];
    return {
      model: "a language model", source: none, decoder: side("The animal did not cross the street.", tokens),
      target: side("The animal did not cross the street.", [...tokens.slice(1), "<|endoftext|>"]),
      maps: maps("decoder", 2, 12, 9, 9, 7),
    };
  })()],
  bert: [(() => {
    const tokens = ["[CLS]", "the", "cat", "sat", ".", "[SEP]", "it", "slept", "un", "##interrupted", "##ly", ".", "[SEP]"];
    const n = tokens.length;
    const heads = [(q) => q - 1, (q) => q + 1, (q) => q, () => 0, () => 12, (q) => (q < 8 ? 4 : 11)];
    return {
      model: "BERT", source: { ...side("The cat sat. It slept uninterruptedly.", tokens), segments: tokens.map((_, i) => (i < 6 ? 0 : 1)) }, decoder: none, target: none,
      maps: maps("encoder", 2, 6, n, n, 11, (layer, head) => (layer === 0 ? peaked(n, n, (query) => Math.min(Math.max(heads[head](query), 0), n - 1)) : null)),
    };
  })()],
  "a picture": [(() => {
    const [rows, columns] = [3, 4], patches = rows * columns;
    const answered = ["▁red", "▁circle", "</s>"];
    return {
      model: "a captioner",
      source: { text: "", tokens: ["[CLS]", ...Array(patches).fill("")], words: [-1, ...Array(patches).keys()], grid: { rows, columns } },
      decoder: side("red circle", ["<s>", "▁red", "▁circle"]), target: side("red circle", answered),
      // "red" reads patch 5, "circle" patch 6.
      maps: [...maps("encoder", 1, 2, patches + 1, patches + 1, 5), ...maps("cross", 1, 2, 3, patches + 1, 6, () => peaked(3, patches + 1, (query) => 6 + query))],
      image: picture,
    };
  })()],
  "right to left": [translation({
    model: "أترجم </script><b id=\"injected\">", seed: 50,
    source: { text: "لم يعبر الحيوان الشارع لأنه كان متعبا.", tokens: ["▁لم", "▁يعبر", "▁الحيوان", "▁الشارع", "▁لأنه", "▁كان", "▁متعبا", ".", "</s>"] },
    target: { text: "这只动物没有过马路，因为它太累了。<b id=\"injected\">", tokens: ["▁这只", "动物", "没有", "过", "马路", "，", "因为", "它", "太", "累", "了", "。", "<b id=\"injected\">"] },
  })],
};

// Of one layer and head, with so many tokens, near its diagonal.
export function long(tokens, layers = 1, heads = 1) {
  const names = [...Array(tokens).keys()].map((i) => `▁word${i}`);
  const packed = () => {
    const weights = new Float32Array(heads * tokens * tokens);
    for (let row = 0; row < heads * tokens; ++row) {
      const query = row % tokens;
      for (let key = Math.max(0, query - 8); key <= query; ++key) weights[row * tokens + key] = 1 / (Math.min(query, 8) + 1);
    }
    return { shape: [heads, tokens, tokens], f32: Buffer.from(weights.buffer).toString("base64") };
  };
  return [{
    model: `${tokens} tokens`, source: none, decoder: side("", names), target: side("", names),
    maps: [...Array(layers).keys()].map((layer) => ({ path: `layers.${layer}`, layer, kind: "decoder", heads, queries: tokens, keys: tokens, weights: packed() })),
  }];
}
