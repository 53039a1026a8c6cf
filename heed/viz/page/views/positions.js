// Where tokens stand: their vectors on a plane before and after positions were added, and the sinusoids themselves.

import { check, range, segments } from "../controls.js";
import { element, percent, signed } from "../dom.js";
import { barCell, heading } from "../listing.js";
import { formula } from "../mathml.js";
import { principalPlane } from "../pca.js";
import { productsOfPositions, sinusoid, sinusoids, wavelengths } from "../positions.js";
import { scatter } from "../scatter.js";
import { curve, paintNumbers, paintTable, signedScale } from "../sinusoid_pictures.js";

const kWidest = 780;  // of the plane
const kSavedWidth = 1024;  // of the table's longer side in a file, at most
const rowsOf = ({ shape: [rows, width], values }) =>
  Array.from({ length: rows }, (_, i) => Array.from(values.subarray(i * width, (i + 1) * width)));

// One side's tokens on the plane in which they, before and after, lie farthest apart.
function planeOf(trace, side) {
  const { before, after } = trace.embeddings[side];
  const from = rowsOf(before), to = rowsOf(after);
  const plane = principalPlane([...from, ...to]);
  const points = trace[side].labels.slice(0, from.length).map((label, i) =>
    ({ label, from: plane.project(from[i]), to: plane.project(to[i]) }));
  return { points, shares: plane.shares };
}

class PositionsView {
  constructor(host, app) {
    Object.assign(this, { host, app, t: (key, values) => app.t(key, values), planes: new Map() });
    this.sides = ["source", "decoder"].filter((side) => app.trace().embeddings[side]);
    if (this.sides.length > 0) host.append(this.planeSection());
    host.append(this.sinusoidSection());
    this.update();
    this.observer = new ResizeObserver(() => this.sides.length > 0 && this.updatePlane());
    this.observer.observe(host);
  }

  remove() {
    this.observer.disconnect();
  }

  // --- Embeddings on a plane

  planeSection() {
    const { app, t } = this;
    const own = (key) => ({ value: () => app.own(view)[key], choose: (value) => app.setOwn(view, { [key]: value }) });
    this.switches = [
      segments({ label: t("positions.side"), options: () => this.sides.map((side) => [side, t(`side.${side}`)]), ...own("side"),
                      value: () => this.side }),
      segments({ label: t("positions.shown"), options: () => ["before", "after", "both"].map((one) => [one, t(`positions.${one}`)]), ...own("shown") }),
    ];
    this.plane = element("div", { class: "plane" });
    return element("section", {}, element("h3", {}, t("positions.plane")), element("p", { class: "quiet" }, t("positions.plane.text")),
                   element("div", { class: "toolbar" }, this.switches.map(({ node }) => node)), this.plane);
  }

  get side() {
    const { side } = this.app.own(view);
    return this.sides.includes(side) ? side : this.sides[0];
  }

  get shown() {
    const { shown } = this.app.own(view);
    return ["before", "after", "both"].includes(shown) ? shown : "both";
  }

  updatePlane() {
    const { app, side, shown, t } = this;
    for (const one of this.switches) one.update();
    if (!this.planes.has(side)) this.planes.set(side, planeOf(app.trace(), side));
    const { points, shares } = this.planes.get(side);
    const width = Math.min(Math.max(this.host.clientWidth, 260), kWidest), drawn = JSON.stringify([side, shown, width]);
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    this.plane.replaceChildren(scatter({
      points, shown, width, colours: app.colours, title: t("positions.plane.title", { side: t(`side.${side}`), shown: t(`positions.${shown}`) }),
      axes: t("positions.shares", { first: percent(shares[0]), second: percent(shares[1]) }),
    }));
  }

  // --- Sinusoids

  sinusoidSection() {
    const { app, t } = this;
    const slider = (key, least, most, step = 1) => range({
      key: `positions-${key}`, label: t(`positions.${key}`), least, most, step,
      value: () => this.sizes[key], choose: (value) => app.setOwn(view, { [key]: value }),
    });
    this.sliders = [
      slider("length", 2, () => 512), slider("width", 2, () => 512, 2),
      slider("position", 0, () => this.sizes.length - 1), slider("dimension", 0, () => this.sizes.width - 1),
    ];
    this.apart = check({
      key: "positions-apart", label: t("positions.apart"), value: () => app.own(view).apart, choose: (apart) => app.setOwn(view, { apart }),
    });
    this.canvas = element("canvas", { class: "sinusoids", role: "img" });
    this.line = element("div", { class: "row-line", "aria-hidden": "true" });
    this.readout = element("p", { class: "readout" });
    this.wave = element("div");
    this.waves = element("tbody");
    this.products = element("div");
    this.square = element("canvas", { class: "products", role: "img", "aria-label": t("positions.products.square") });
    this.productsText = element("p", { class: "quiet" });
    this.canvas.addEventListener("pointermove", (event) => this.pointAt(event));
    this.canvas.addEventListener("click", (event) => this.pointAt(event));
    const box = (title, ...children) => element("div", {}, element("h4", {}, title), children);
    return element("section", {},
      element("h3", {}, t("positions.sinusoids")),
      element("p", { class: "quiet" }, t("positions.sinusoids.text")),
      element("p", { class: "positions-formula" },
        formula("PE(p, 2i) = \\sin \\frac{p}{10000^{2i/d}}"), formula("PE(p, 2i + 1) = \\cos \\frac{p}{10000^{2i/d}}")),
      element("div", { class: "positions-sliders" }, this.sliders.map(({ node }) => node)),
      this.apart.node,
      this.readout,
      element("div", { class: "positions-boxes" },
        box(t("positions.table"), element("div", { class: "table-frame" }, this.canvas, this.line), this.legend = element("div", { class: "signed-legend" })),
        element("div", { class: "curves" },
          box(t("positions.wave"), this.wave), box(t("positions.products"), this.products, this.productsText)),
        box(t("positions.products.square"), this.square),
        box(t("positions.wavelengths"), element("div", { class: "scroll wavelengths", tabindex: 0, role: "region", "aria-label": t("positions.wavelengths") }, element("table", { class: "listing" },
          element("caption", { class: "spoken" }, t("positions.wavelengths")),
          heading([t("positions.pair"), t("positions.wavelength")]),
          this.waves)))));
  }

  // What the sliders say, within each other's bounds.
  get sizes() {
    const own = this.app.own(view);
    const within = (x, least, most) => Math.min(Math.max(x, least), most);
    const length = within(own.length, 2, 512), width = within(own.width, 2, 512);
    return { length, width, position: within(own.position, 0, length - 1), dimension: within(own.dimension, 0, width - 1) };
  }

  pointAt(event) {
    const { left, top, width: wide, height: tall } = this.canvas.getBoundingClientRect(), { length, width } = this.sizes;
    const position = Math.floor((event.clientY - top) / tall * length), column = Math.floor((event.clientX - left) / wide * width);
    if (position < 0 || position >= length || column < 0 || column >= width) return;
    const half = Math.ceil(width / 2);
    const dimension = !this.app.own(view).apart ? column : column < half ? 2 * column : 2 * (column - half) + 1;
    if (event.type === "click") this.app.setOwn(view, { position, dimension });
    else this.read(position, dimension, width);
  }

  read(position, dimension, width) {
    const pair = Math.floor(dimension / 2);
    this.readout.textContent = this.t("positions.read", {
      position, dimension, value: signed(sinusoid(position, dimension, width)), wavelength: signed(wavelengths(width)[pair], 1),
    });
  }

  update() {
    if (this.sides.length > 0) this.updatePlane();
    const { app, t } = this, { colours } = app, sizes = this.sizes, { length, width, position, dimension } = sizes;
    const { apart } = app.own(view);
    for (const control of [...this.sliders, this.apart]) control.update();
    const size = JSON.stringify([length, width, apart]);
    if (size !== this.size) this.paint(sizes, apart);
    this.size = size;
    this.line.style.setProperty("top", `${(100 * (position + 0.5) / length).toFixed(2)}%`);
    this.legend.replaceChildren("−1", element("span", { class: "signed-bar" }), "1");
    this.read(position, dimension, width);
    const positions = Array.from({ length }, (_, p) => p);
    this.wave.replaceChildren(curve({
      values: positions.map((p) => sinusoid(p, dimension, width)), mark: position, colours, colour: colours.query, least: -1, most: 1,
      label: t("positions.wave.label", { dimension }),
    }));
    const products = positions.map((p) => this.product(position, p)), most = products[position];
    this.products.replaceChildren(curve({
      values: products, mark: position, colours, colour: colours.key, height: 110, most, least: Math.min(...products, 0),
      label: t("positions.products.label", { position }),
    }));
    this.productsText.textContent = t("positions.products.text", { position, most: signed(most, 1) });
    this.updateWavelengths(width, dimension);
  }

  // What the length and the width alone decide.
  paint({ length, width }, apart) {
    const scale = signedScale(this.app.colours);
    this.product = productsOfPositions(length, width);
    const most = Math.ceil(width / 2);
    paintTable(this.canvas, { length, width, apart, scale });
    this.canvas.setAttribute("aria-label", this.t("positions.table.label", { length, width }));
    paintNumbers(this.square, length, length, (p, q) => this.product(p, q) / most, scale);
  }

  updateWavelengths(width, dimension) {
    const lengths = wavelengths(width), least = Math.log(lengths[0]), span = Math.log(lengths.at(-1)) - least || 1;
    this.waves.replaceChildren(...lengths.map((wavelength, pair) => {
      const bar = barCell(0.04 + 0.96 * (Math.log(wavelength) - least) / span, signed(wavelength, wavelength < 1000 ? 2 : 0));
      return element("tr", { class: pair === Math.floor(dimension / 2) ? "chosen" : null,
                             onclick: () => this.app.setOwn(view, { dimension: 2 * pair }) },
                     element("th", { scope: "row" }, 2 * pair + 1 < width ? `${2 * pair}, ${2 * pair + 1}` : String(2 * pair)), bar);
    }));
  }

  // The plane where there is one, else the table, in which a number is a pixel, larger.
  picture() {
    if (this.plane) return this.plane.firstChild;
    const { width, height } = this.canvas, times = Math.max(1, Math.floor(kSavedWidth / Math.max(width, height)));
    const large = element("canvas", { width: times * width, height: times * height }), context = large.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, 0, 0, large.width, large.height);
    return large;
  }

  table() {
    if (this.sides.length > 0) {
      const { points } = this.planes.get(this.side);
      return { columns: ["token", "before x", "before y", "after x", "after y"], rows: points.map(({ label, from, to }) => [label, ...from, ...to]) };
    }
    const { length, width } = this.sizes;
    return {
      columns: ["position", ...Array.from({ length: width }, (_, d) => `d${d}`)],
      rows: sinusoids(length, width).map((row, p) => [p, ...row]),
    };
  }
}

export const view = {
  id: "positions",
  state: { side: "source", shown: "both", length: 64, width: 128, position: 10, dimension: 6, apart: false },
  of: null,
  controls: [],
  available: () => true,
  mount: (host, app) => new PositionsView(host, app),
};
