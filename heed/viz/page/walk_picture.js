// A step of a walk as one picture, to save: its equations, a matrix as labelled cells.
//
//   const picture = walkPicture(step, app.colours);   // an <svg>

import { svg, textWidth } from "./dom.js";
import { mathText, parseMath } from "./math.js";
import { kStrongest, shadesOf, shownOf } from "./matrix_view.js";
import { mixed, nameOf, partsOf } from "./palette.js";
import { numberStyle } from "./walks/matrices.js";

const kCell = 28, kGap = 3, kSize = 13, kHead = 44, kBetween = 16;

const shaded = (ground, over, share) => nameOf(mixed(partsOf(ground), partsOf(over), share));

const label = (text, x, y, fill, more = {}) => svg("text", { x, y, fill, "font-size": kSize, "text-anchor": "middle", ...more }, text);

// A formula in a line, with its subscripts below and its powers above; what lies deeper is as mathText has it.
function mathSpans(tex) {
  const spans = [];
  let drop = 0;  // how far below the line the text before stands
  const add = (text, to) => {
    if (text === "") return;
    spans.push(svg("tspan", { dy: to - drop, "font-size": to === 0 ? null : 11 }, text));
    drop = to;
  };
  const visit = (tree) => {
    const parts = tree.children ?? [];
    if (tree.name === "msub" || tree.name === "msup") {
      visit(parts[0]);
      add(mathText(parts[1]), tree.name === "msub" ? 4 : -6);
    } else if (tree.name === "msubsup") {
      visit(parts[0]);
      add(mathText(parts[1]), 4);
      add(mathText(parts[2]), -6);
    } else if (tree.name === "math" || tree.name === "mrow") parts.forEach(visit);
    else add(mathText(tree), 0);
  };
  visit(parseMath(tex));
  return spans;
}

// { width, height, node }, with the matrix's corner at 0, 0.
function drawMatrix(matrix, colours) {
  const text = numberStyle(matrix.values), shade = shadesOf(matrix);
  const rows = shownOf(matrix.rows.length), columns = shownOf(matrix.columns.length);
  const written = (r, c) => (r < 0 || c < 0 ? "…" : matrix.pattern && matrix.values[r][c] === 0 ? "·" : text(matrix.values[r][c]));
  const left = Math.max(...rows.map((r) => (r < 0 ? 10 : textWidth(matrix.rows[r], 12)))) + 8;
  const widths = columns.map((c) => Math.max(kCell, c < 0 ? 0 : textWidth(matrix.columns[c], 11) + 4, ...rows.map((r) => textWidth(written(r, c), kSize) + 10)));
  const starts = widths.map((_, i) => left + widths.slice(0, i).reduce((sum, width) => sum + width + kGap, 0));
  const width = starts.at(-1) + widths.at(-1), height = kHead + rows.length * (kCell + kGap);
  const role = colours[matrix.role] ?? colours.accent;
  const parts = [label(mathSpans(matrix.tex), (left + width) / 2, 14, colours.ink, { "font-weight": 600, "font-size": 15 })];
  columns.forEach((c, i) => parts.push(label(c < 0 ? "…" : matrix.columns[c], starts[i] + widths[i] / 2, 36, colours.quiet, { "font-size": 11 })));
  rows.forEach((r, i) => {
    const y = kHead + i * (kCell + kGap);
    parts.push(label(r < 0 ? "⋮" : matrix.rows[r], left - 6, y + 19, colours.quiet, { "font-size": 12, "text-anchor": "end" }));
    columns.forEach((c, j) => {
      const value = r < 0 || c < 0 ? 0 : matrix.values[r][c], cut = r < 0 || c < 0;
      if (!cut) {
        parts.push(svg("rect", { x: starts[j], y, width: widths[j], height: kCell, rx: 4, stroke: colours.edge,
                                 fill: shaded(colours.panel, value < 0 ? colours.below : role, kStrongest * shade(value)) }));
      }
      parts.push(label(written(r, c), starts[j] + widths[j] / 2, y + 19, cut ? colours.quiet : colours.ink));
    });
  });
  return { width, height, node: svg("g", {}, parts) };
}

function drawOperator(tex, colours) {
  const text = mathText(parseMath(tex)).trim(), width = textWidth(text, 20) + 4;
  return { width, height: 0, node: svg("g", {}, label(text, width / 2, 0, colours.quiet, { "font-size": 20 })) };
}

export function walkPicture(step, colours) {
  const formula = mathText(parseMath(step.formula));
  const parts = [svg("text", { x: 0, y: 16, fill: colours.ink, "font-size": 15 }, mathSpans(step.formula))];
  let y = 40, widest = textWidth(formula, 15) + 8;
  for (const line of step.shown) {
    const drawn = line.map((part) => (typeof part === "string" ? drawOperator(part, colours) : drawMatrix(part, colours)));
    const tall = Math.max(...drawn.map(({ height }) => height));
    let x = 0;
    for (const { width, height, node } of drawn) {
      node.setAttribute("transform", `translate(${x} ${y + (height > 0 ? (tall - height) / 2 : tall / 2 + 24)})`);
      parts.push(node);
      x += width + kBetween;
    }
    widest = Math.max(widest, x - kBetween + 2);
    y += tall + 20;
  }
  return svg("svg", { width: Math.ceil(widest), height: y, viewBox: `0 0 ${Math.ceil(widest)} ${y}` }, parts);
}
