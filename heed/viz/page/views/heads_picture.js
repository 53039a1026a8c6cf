// The picture of heads over words: an <svg> whose lines can be drawn again for the word that is pointed at.
//
//   const picture = headsPicture(app, shown, { layout: "columns", width: 640, heads: [0, 3], label: "..." });
//   picture.point({ axis: "queries", index: 4 });    // that word's lines alone; null: all
//
// Everything that an exported file needs is in attributes.

import { kFonts, svg } from "../dom.js";
import { headColour, headDash } from "../palette.js";
import { kTextSize, placesOf } from "./heads_places.js";

const kLeast = 0.02;  // weights below are not drawn
const kMostLines = 3000;

// A head's colour; "mean" is no head, and has the accent's.
const colourOf = (head, app) => (head === "mean" ? app.colours.accent : headColour(head, app.dark));

// The lines of some words, the strongest last, on top: { query, key, head, weight }; `left` of them are not drawn.
function linesOf(shown, heads, pointed) {
  const columns = shown.keys.labels.length;
  const found = [];
  const rows = [...shown.queries.labels.keys()];
  for (const head of heads) {
    const weights = shown.weights(head);
    for (const query of pointed?.axis === "queries" ? [pointed.index] : rows) {
      for (let key = 0; key < columns; ++key) {
        if (pointed?.axis === "keys" && key !== pointed.index) continue;
        const weight = weights[query * columns + key];
        if (weight >= (pointed ? 0.005 : kLeast)) found.push({ query, key, head, weight });
      }
    }
  }
  found.sort((a, b) => a.weight - b.weight);
  const left = Math.max(0, found.length - kMostLines);
  return { lines: found.slice(left), left, all: found.length };
}

export function headsPicture(app, shown, { layout, width, heads, label }) {
  const places = placesOf(shown, layout, width);
  const { colours } = app;
  const strips = svg("g", {});
  const strokes = svg("g", { fill: "none", "stroke-linecap": "round" });
  const words = svg("g", { "font-family": kFonts, "font-size": kTextSize });
  const frame = svg("rect", { fill: "none", stroke: colours.mark, "stroke-width": 2, rx: 5, visibility: "hidden" });
  const nodes = { queries: [], keys: [] };
  for (const axis of places.shared ? ["queries"] : ["queries", "keys"]) {
    places[axis].forEach((word, index) => {
      const { x, y, width: wide, height } = word.box;
      const text = svg("text", { x: x + wide / 2, y: y + 18, "text-anchor": "middle", fill: colours.ink }, word.text);
      const node = svg("g", { class: "word", "data-axis": axis, "data-index": index, cursor: "pointer" },
        svg("title", {}, word.label), svg("rect", { x, y, width: wide, height, fill: "transparent" }), text);
      nodes[axis].push(text);
      words.append(node);
    });
  }
  if (places.shared) nodes.keys = nodes.queries;
  const picture = svg("svg", {
    width: places.width, height: places.height, viewBox: `0 0 ${places.width} ${places.height}`,
    xmlns: "http://www.w3.org/2000/svg", tabindex: 0, role: "application", "aria-label": label,
  }, strips, strokes, words, frame);

  // A word that is read, with a strip for each head, as strong as the weight.
  function strip(axis, index, weightOf) {
    const { x, y, width: wide, height } = places[axis][index].box;
    const each = wide / heads.length;
    heads.forEach((head, i) => {
      const weight = weightOf(head);
      if (weight < 0.005) return;
      strips.append(svg("rect", {
        x: x + i * each, y: y + 2, width: each, height: height - 4, fill: colourOf(head, app),
        "fill-opacity": (0.06 + 0.5 * Math.min(weight, 1)).toFixed(3), rx: heads.length === 1 ? 4 : 0,
      }));
    });
  }

  let drawn = { left: 0, all: 0 };
  function point(pointed) {
    drawn = linesOf(shown, heads, pointed);
    strokes.replaceChildren(...drawn.lines.map(({ query, key, head, weight }) => svg("path", {
      d: places.path(query, key), stroke: colourOf(head, app), "stroke-dasharray": head === "mean" ? null : headDash(head) || null,
      "stroke-width": (pointed ? 1 + 3 * weight : 0.75 + 1.75 * weight).toFixed(2),
      // Of all at once the weak ones step back further, or their number would cover the strong.
      "stroke-opacity": Math.min(1, pointed ? 0.15 + weight : 1.1 * weight ** 1.5).toFixed(3),
      "data-query": query, "data-key": key, "data-head": head,
    })));
    strips.replaceChildren();
    const columns = shown.keys.labels.length;
    const other = pointed?.axis === "queries" ? "keys" : "queries";
    const strongest = (index) => Math.max(...heads.map((head) => weightAt(head, pointed, index, columns)));
    for (const axis of ["queries", "keys"]) {
      if (places.shared && axis !== other) continue;
      nodes[axis].forEach((text, index) => {
        const faint = pointed && (axis === other ? strongest(index) < 0.05 : index !== pointed.index);
        text.setAttribute("fill", faint ? colours.quiet : colours.ink);
        if (pointed && axis === other) strip(axis, index, (head) => weightAt(head, pointed, index, columns));
      });
    }
    frame.setAttribute("visibility", pointed ? "visible" : "hidden");
    if (pointed) {
      const { x, y, width: wide, height } = places[pointed.axis][pointed.index].box;
      for (const [name, value] of Object.entries({ x, y: y + 1, width: wide, height: height - 2 })) frame.setAttribute(name, value);
      nodes[pointed.axis][pointed.index].setAttribute("fill", colours.ink);
    }
  }

  function weightAt(head, pointed, index, columns) {
    const [query, key] = pointed.axis === "queries" ? [pointed.index, index] : [index, pointed.index];
    return shown.weights(head)[query * columns + key];
  }

  return { node: picture, places, point, get left() { return drawn.left; }, get all() { return drawn.all; } };
}
