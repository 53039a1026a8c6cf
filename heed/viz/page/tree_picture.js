// The beam's paths as a picture: a step a column, its hypotheses below each other, best first, a line from each to what
// it went on from; the answer's path in colour, and nothing of steps that are yet to come.
//
//   const picture = treePicture(tree, { step: 3, chosen: 1, label: (node) => node.token, colours, choose, words });
//   host.append(picture.node);

import { fitted, svg, textWidth } from "./dom.js";

const kRow = 34, kTop = 26, kBox = 26, kBetween = 46, kMostWidth = 150, kSize = 13;

// Where each column begins, and how wide it is.
function columnsOf(tree, label, step) {
  let x = 8;
  return tree.columns.slice(0, step + 1).map((nodes) => {
    const width = Math.min(Math.max(34, ...nodes.map((node) => textWidth(label(node), kSize, 600))) + 18, kMostWidth);
    const column = { x, width };
    x += width + kBetween;
    return column;
  });
}

export function treePicture(tree, { step, chosen, label, colours, choose, words }) {
  const columns = columnsOf(tree, label, step);
  const rowOf = new Map();  // "step number" to the row it is drawn in
  tree.columns.forEach((nodes, t) => nodes.forEach(({ number }, row) => rowOf.set(`${t} ${number}`, row)));
  const yOf = (t, number) => kTop + (rowOf.get(`${t} ${number}`) ?? 0) * kRow + kBox / 2;
  const rows = Math.max(...tree.columns.slice(0, step + 1).map((nodes) => nodes.length));
  const last = columns.at(-1), width = last.x + last.width + 8, height = kTop + rows * kRow;
  const lines = [], boxes = [];
  tree.columns.slice(0, step + 1).forEach((nodes, t) => nodes.forEach((node) => {
    const { x, width: wide } = columns[t], y = yOf(t, node.number);
    const quiet = !node.answer && t < step && !node.goesOn;
    if (t > 0 && rowOf.has(`${t - 1} ${node.parent}`)) {
      const from = columns[t - 1].x + columns[t - 1].width, y0 = yOf(t - 1, node.parent), bend = kBetween / 2;
      lines.push({ answer: node.answer, line: svg("path", {
        d: `M${from} ${y0}C${from + bend} ${y0} ${x - bend} ${y} ${x} ${y}`, fill: "none",
        stroke: node.answer ? colours.accent : colours.quiet, "stroke-width": 1 + 4 * node.probability,
        "stroke-opacity": node.answer ? 0.9 : quiet ? 0.22 : 0.45,
      }) });
    }
    const isChosen = t === step && node.number === chosen;
    boxes.push(svg("g", { class: "node", "data-number": node.number, onclick: () => choose(t, node.number) },
      svg("title", {}, words(node)),
      svg("rect", { x, y: y - kBox / 2, width: wide, height: kBox, rx: 6, fill: node.answer ? colours.wash : colours.panel,
                    stroke: isChosen ? colours.mark : node.answer ? colours.accent : colours.edge,
                    "stroke-width": isChosen ? 2.5 : node.answer ? 1.5 : 1 }),
      svg("text", { x: x + wide / 2, y: y + 4.5, "text-anchor": "middle", "font-size": kSize, direction: "ltr",
                    "font-weight": node.answer ? 600 : 400, fill: quiet ? colours.quiet : colours.ink },
          fitted(label(node), wide - 8, kSize))));
  }));
  const numbers = columns.map(({ x, width: wide }, t) => svg("text", {
    x: x + wide / 2, y: 14, "text-anchor": "middle", "font-size": 11, fill: t === step ? colours.mark : colours.quiet,
    "font-weight": t === step ? 700 : 400,
  }, String(t + 1)));
  // The answer's lines lie over the others.
  lines.sort((a, b) => Number(a.answer) - Number(b.answer));
  const node = svg("svg", { class: "tree", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
                   numbers, lines.map(({ line }) => line), boxes);
  return { node, end: last.x + last.width };
}
