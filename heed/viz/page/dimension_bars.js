// A query, a key and their product as bars, a dimension beside the next: what of a dot product comes from where.
//
//   const bars = dimensionBars({ t, announce });
//   host.append(bars.node);
//   bars.show({ q, k, query: "it", key: "animal", colours });
//
// The arrow keys go from dimension to dimension where the picture has the focus; the mouse does the same.

import { sum } from "./attention.js";
import { check } from "./controls.js";
import { element, signed, svg } from "./dom.js";

const kLane = 78, kGap = 22, kTop = 20, kLeft = 8, kMostBar = 40;

export function dimensionBars({ t, announce }) {
  const picture = svg("svg", { class: "dimensions", tabindex: 0, role: "img" });
  const readout = element("p", { class: "readout" });
  let sorted = false;
  const largest = check({ label: t("bars.sorted"), value: () => sorted, choose(on) {
    sorted = on;
    draw();
  } });
  const node = element("div", { class: "dimension-bars" },
    element("div", { class: "bars-head" }, readout, largest.node), picture);
  let shown = null, order = [], at = -1, marks = null, width = 0;

  function read(place) {
    at = place;
    const d = order[at];
    if (d === undefined) {
      readout.textContent = t("bars.sum", { sum: signed(sum(shown.q.map((x, n) => x * shown.k[n]))), count: order.length });
      marks?.setAttribute("visibility", "hidden");
      return;
    }
    const { q, k } = shown;
    readout.textContent = t("bars.dimension", { dimension: d, q: signed(q[d]), k: signed(k[d]), product: signed(q[d] * k[d]) });
    marks.setAttribute("visibility", "visible");
    marks.setAttribute("x", kLeft + at * step());
  }
  const step = () => Math.min((width - 2 * kLeft) / order.length, kMostBar);

  function lane(name, words, values, top, colours) {
    const most = Math.max(...values.map(Math.abs), Number.MIN_VALUE), low = Math.min(...values, 0) / most, high = Math.max(...values, 0) / most;
    const unit = kLane / (high - low), zero = top + high * unit, bar = Math.max(step() - (step() > 4 ? 1.5 : 0), 0.5);
    return svg("g", {},
      svg("text", { x: kLeft, y: top - 6, "font-size": 13, "font-weight": 600, fill: colours.above }, name),
      svg("text", { x: width - kLeft, y: top - 6, "font-size": 12, "text-anchor": "end", fill: shown.colours.quiet }, words),
      order.map((d, n) => {
        const height = Math.abs(values[d]) / most * unit;
        return svg("rect", { x: kLeft + n * step(), y: values[d] < 0 ? zero : zero - height, width: bar, height,
                             fill: values[d] < 0 ? colours.below : colours.above });
      }),
      svg("line", { x1: kLeft, x2: kLeft + order.length * step(), y1: zero, y2: zero, stroke: shown.colours.quiet, "stroke-width": 1 }));
  }

  function draw() {
    if (!shown) return;
    width = Math.max(node.clientWidth, 240);
    const { q, k, query, key, colours } = shown;
    const products = q.map((x, d) => x * k[d]);
    order = q.map((_, d) => d);
    if (sorted) order.sort((a, b) => products[b] - products[a]);
    const height = kTop + 3 * kLane + 2 * (kGap + 8) + 6;
    const range = (values) => `${signed(Math.min(...values))} … ${signed(Math.max(...values))}`;
    marks = svg("rect", { y: kTop - 2, width: Math.max(step(), 2), height: height - kTop, fill: colours.mark, opacity: 0.22, visibility: "hidden" });
    const same = (colour) => ({ above: colour, below: colour });
    picture.replaceChildren(
      svg("title", {}, t("bars.title", { query, key })),
      lane(`q · ${query}`, range(q), q, kTop, same(colours.query)),
      lane(`k · ${key}`, range(k), k, kTop + kLane + kGap + 8, same(colours.key)),
      lane("q × k", `∑ = ${signed(sum(products))}`, products, kTop + 2 * (kLane + kGap + 8), { above: colours.accent, below: colours.below }),
      marks);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("width", width);
    picture.setAttribute("height", height);
    read(at < order.length ? at : -1);
  }

  picture.addEventListener("pointermove", (event) => {
    const place = Math.floor((event.clientX - picture.getBoundingClientRect().left - kLeft) / step());
    if (order[place] !== undefined && place !== at) read(place);
  });
  picture.addEventListener("pointerleave", () => picture.getRootNode().activeElement !== picture && read(-1));
  picture.addEventListener("keydown", (event) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: order.length - 1, Escape: -1 }[event.key];
    if (to === undefined || to >= order.length || (to < 0 && event.key !== "Escape")) return;
    event.preventDefault();
    read(to);
    announce(readout.textContent);
  });

  return {
    node,
    show(next) {
      shown = next;
      draw();
    },
    resize() {
      if (Math.abs(node.clientWidth - width) > 1) draw();
    },
    picture: () => picture,
  };
}
