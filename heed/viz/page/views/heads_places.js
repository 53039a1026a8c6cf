// Where the words of the heads' picture stand, and how lines run between them.
//
//   const places = placesOf(shown, "columns", 640);
//   places.path(2, 0);         // the line from query 2 to key 0, as a path's d
//   places.queries[2].box      // { x, y, width, height } of a word
//
// Layouts: "columns", queries on the left and keys on the right; "line", where the words run as they are read: one line
// with arcs above it for self-attention, else the queries' line above the keys'.

import { fitted, textWidth } from "../dom.js";
import { rightToLeft } from "../tokens.js";

export const kTextSize = 15;
const kPad = 7;
const kWidest = 190;
const kHeight = 26;  // of a word's box

const wordsOf = (labels) =>
  labels.map((label) => {
    const text = fitted(label, kWidest, kTextSize);
    return { text, label, width: Math.ceil(textWidth(text, kTextSize)) + 2 * kPad };
  });

const boxed = (word, x, y) => ({ ...word, box: { x, y, width: word.width, height: kHeight } });

const middle = (box) => box.x + box.width / 2;

function columns(queries, keys, width) {
  const widest = (words) => Math.max(20, ...words.map((word) => word.width));
  const left = widest(queries), right = widest(keys);
  const between = Math.min(Math.max(width - left - right - 4, 90), 300);
  const step = Math.max(queries.length, keys.length) > 60 ? kHeight - 4 : kHeight + 3;
  const across = left + between;
  const tall = Math.max(queries.length, keys.length);
  const down = (list, i) => 2 + (i + (tall - list.length) / 2) * step;
  const atQueries = queries.map((word, i) => boxed(word, 2 + left - word.width, down(queries, i)));
  const atKeys = keys.map((word, i) => boxed(word, across, down(keys, i)));
  return {
    width: across + right + 2, height: tall * step + 4, queries: atQueries, keys: atKeys, shared: false,
    path(query, key) {
      const from = left + 4, to = across - 2, bend = (to - from) * 0.45;
      const y1 = atQueries[query].box.y + kHeight / 2, y2 = atKeys[key].box.y + kHeight / 2;
      return `M${from} ${y1}C${from + bend} ${y1} ${to - bend} ${y2} ${to} ${y2}`;
    },
  };
}

// Words one after the other from x = 2; from the right where they are read so.
function run(words, y) {
  const total = words.reduce((sum, word) => sum + word.width + 2, 0);
  const backwards = rightToLeft(words.map((word) => word.label));
  let at = 2;
  const placed = words.map((word) => {
    const x = backwards ? 2 + total - at - word.width : at;
    at += word.width + 2;
    return boxed(word, x, y);
  });
  return { placed, total: total + 4 };
}

function arcs(words) {
  const { placed, total } = run(words, 0);
  const reach = Math.max(0, ...placed.map((word) => middle(word.box))) - Math.min(...placed.map((word) => middle(word.box)));
  const room = Math.min(Math.max(reach * 0.34, 40), 260) + 10;
  for (const word of placed) word.box.y = room;
  return {
    width: total, height: room + kHeight + 4, queries: placed, keys: placed, shared: true,
    path(query, key) {
      const x1 = middle(placed[query].box), x2 = middle(placed[key].box);
      if (query === key) return `M${x1 - 5} ${room}C${x1 - 14} ${room - 22} ${x1 + 14} ${room - 22} ${x1 + 5} ${room}`;
      const lift = Math.min(Math.abs(x2 - x1) * 0.45 + 12, (room - 8) * 4 / 3);
      return `M${x1} ${room}C${x1} ${room - lift} ${x2} ${room - lift} ${x2} ${room}`;
    },
  };
}

function lines(queries, keys) {
  const gap = 150;
  const above = run(queries, 2), below = run(keys, 2 + kHeight + gap);
  const total = Math.max(above.total, below.total);
  for (const { placed, total: own } of [above, below]) for (const word of placed) word.box.x += (total - own) / 2;
  return {
    width: total, height: 2 * kHeight + gap + 4, queries: above.placed, keys: below.placed, shared: false,
    path(query, key) {
      const x1 = middle(above.placed[query].box), x2 = middle(below.placed[key].box);
      const y1 = 2 + kHeight + 1, y2 = y1 + gap - 2;
      return `M${x1} ${y1}C${x1} ${y1 + gap * 0.45} ${x2} ${y2 - gap * 0.45} ${x2} ${y2}`;
    },
  };
}

export function placesOf(shown, layout, width) {
  const queries = wordsOf(shown.queries.labels);
  const keys = wordsOf(shown.keys.labels);
  if (layout !== "line") return columns(queries, keys, width);
  return shown.queries.side === shown.keys.side ? arcs(queries) : lines(queries, keys);
}
