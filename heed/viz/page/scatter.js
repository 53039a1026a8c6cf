// Points with names on a plane, and where each moves to: labels keep out of each other's way.
//
//   const points = [{ label: "it", from: [x, y], to: [x, y] }];
//   host.append(scatter({ points, shown: "both", width: 560, axes, title, colours }));

import { fitted, svg, textWidth } from "./dom.js";

const kHeight = 400, kMargin = 34, kSize = 12.5, kMostLabel = 110;
// Where a label may stand beside its point: right, left, above, below, and the corners.
const kPlaces = [[8, 4, "start"], [-8, 4, "end"], [0, -9, "middle"], [0, 17, "middle"], [7, -7, "start"], [7, 14, "start"], [-7, -7, "end"], [-7, 14, "end"]];

const overlap = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) *
                          Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

// The place of each label that covers least of the points and of the labels before it.
function placed(points, labels, within) {
  const taken = points.map(([x, y]) => ({ left: x - 4, right: x + 4, top: y - 4, bottom: y + 4 }));
  return points.map(([x, y], i) => {
    const width = textWidth(labels[i], kSize);
    let best = null;
    kPlaces.forEach(([dx, dy, anchor], order) => {
      const left = x + dx - (anchor === "start" ? 0 : anchor === "end" ? width : width / 2);
      const box = { left, right: left + width, top: y + dy - 11, bottom: y + dy + 3 };
      const outside = Math.max(0, -box.left) + Math.max(0, box.right - within) + Math.max(0, -box.top) + Math.max(0, box.bottom - kHeight);
      const cost = taken.reduce((sum, other, j) => sum + (j === i ? 0 : overlap(box, other)), 0) + 40 * outside + order;
      if (best === null || cost < best.cost) best = { cost, box, dx, dy, anchor };
    });
    taken.push(best.box);
    return best;
  });
}

// shown: "before", "after" or "both"; the scale is that of both, so that nothing jumps between them.
export function scatter({ points, shown, width, axes, title, colours }) {
  const all = points.flatMap(({ from, to }) => [from, to]);
  const low = [0, 1].map((a) => Math.min(...all.map((p) => p[a]))), high = [0, 1].map((a) => Math.max(...all.map((p) => p[a])));
  const span = Math.max((high[0] - low[0]) / (width - 2 * kMargin - 60), (high[1] - low[1]) / (kHeight - 2 * kMargin), 1e-12);
  const at = ([x, y]) => [width / 2 + (x - (low[0] + high[0]) / 2) / span, kHeight / 2 - (y - (low[1] + high[1]) / 2) / span];
  const from = points.map((point) => at(point.from)), to = points.map((point) => at(point.to));
  const ends = shown === "before" ? from : to;
  const labels = points.map(({ label }) => fitted(label, kMostLabel, kSize)), places = placed(ends, labels, width);
  const dot = ([x, y], fill, r) => svg("circle", { cx: x, cy: y, r, fill });
  const arrow = (a, b) => svg("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], stroke: colours.quiet, "stroke-opacity": 0.5, "stroke-width": 1.2 });
  return svg("svg", { class: "scatter", viewBox: `0 0 ${width} ${kHeight + 22}`, width: width, height: kHeight + 22, role: "img" },
    svg("title", {}, title),
    svg("rect", { x: 0.5, y: 0.5, width: width - 1, height: kHeight - 1, rx: 8, fill: "none", stroke: colours.edge }),
    shown === "both" ? from.map((a, i) => arrow(a, to[i])) : null,
    shown === "both" ? from.map((a) => svg("circle", { cx: a[0], cy: a[1], r: 3.2, fill: colours.panel, stroke: colours.query, "stroke-width": 1.5 })) : null,
    ends.map((p) => dot(p, shown === "before" ? colours.query : colours.key, 4)),
    ends.map(([x, y], i) => svg("text", { x: x + places[i].dx, y: y + places[i].dy, "text-anchor": places[i].anchor, "font-size": kSize,
                                          fill: colours.ink }, labels[i])),
    svg("text", { x: width, y: kHeight + 16, "text-anchor": "end", "font-size": 12, fill: colours.quiet }, axes));
}
