// Alignment beside gold: the words' matrix with a mark where a person aligned, and the alignment error rate.
import { alignmentOf, errorRate } from "../alignment.js";
import { combine } from "../combine.js";
import { decimals, element, fitted, kFonts, svg, textWidth } from "../dom.js";
import { roundEnd } from "../palette.js";

const kCell = 26;
const kSize = 13;

export const view = {
  id: "alignment",
  state: { least: 0 },
  kinds: ["cross"],
  controls: ["layer", "head"],
  available: (trace) => trace.gold !== null && trace.kinds.includes("cross"),
  mount(host, app) {
    const t = (key, values) => app.t(key, values);
    const score = element("p", { class: "readout" });
    const place = element("div", { class: "scroll" });
    const output = element("output", {});
    const slider = element("input", {
      type: "range", min: 0, max: 0.9, step: 0.05, oninput: () => app.setOwn(view, { least: Number(slider.value) }),
    });
    const mark = (name) => element("span", { class: `key ${name}` }, element("i", {}), t(`alignment.${name}`));
    host.append(
      element("div", { class: "toolbar" }, element("label", { class: "range inline" }, element("span", {}, t("alignment.least")), slider, output),
        mark("gold"), mark("possible"), mark("found")),
      score, place, element("p", { class: "quiet" }, t("alignment.how")));
    let shown, weights, links, rate, picture;

    function draw() {
      const rows = shown.queries.labels.map((label) => fitted(label, 130, kSize));
      const columns = shown.keys.labels.map((label) => fitted(label, 130, kSize));
      const left = Math.ceil(Math.max(0, ...rows.map((label) => textWidth(label, kSize)))) + 12;
      const rise = Math.ceil(Math.max(0, ...columns.map((label) => textWidth(label, kSize))) * Math.SQRT1_2) + 16;
      const width = left + columns.length * kCell + rise, height = rise + rows.length * kCell + 2;
      const end = roundEnd(weights);
      const x = (column) => left + column * kCell, y = (row) => rise + row * kCell;
      const cells = [];
      rows.forEach((_, row) => columns.forEach((_, column) => cells.push(svg("rect", {
        x: x(column), y: y(row), width: kCell, height: kCell, fill: app.scale.colour(weights[row * columns.length + column] / end, app.dark),
        stroke: app.colours.faint,
      }, svg("title", {}, `${shown.queries.labels[row]} ${shown.keys.labels[column]} ${decimals(weights[row * columns.length + column])}`)))));
      const gold = app.trace().gold.map(([column, row, sure]) => svg("rect", {
        x: x(column) + 2, y: y(row) + 2, width: kCell - 4, height: kCell - 4, rx: 3, fill: "none", stroke: app.colours.mark,
        "stroke-width": 2.5, "stroke-dasharray": sure ? null : "4 3", "data-gold": `${column}-${row}`,
      }));
      // A disc that is seen on any cell.
      const found = links.map(([column, row]) => svg("circle", {
        cx: x(column) + kCell / 2, cy: y(row) + kCell / 2, r: 5, fill: app.colours.panel, stroke: app.colours.ink, "stroke-width": 1.5,
        "data-link": `${column}-${row}`,
      }));
      picture = svg("svg", {
        xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
        "aria-label": t("alignment.label", { rows: rows.length, columns: columns.length }), "font-family": kFonts, "font-size": kSize,
      }, cells, gold, found,
      rows.map((text, row) => svg("text", { x: left - 7, y: y(row) + 17, "text-anchor": "end", fill: app.colours.ink }, text)),
      columns.map((text, column) => svg("text", { transform: `translate(${x(column) + 16} ${rise - 6}) rotate(-45)`, fill: app.colours.ink }, text)));
      place.replaceChildren(picture);
      place.tabIndex = width > host.clientWidth ? 0 : -1;
    }

    function update() {
      const { least } = app.own(view);
      slider.value = least;
      output.textContent = least > 0 ? decimals(least, 2) : t("combine.off");
      // Gold is of words: pieces together, without special tokens.
      shown = combine(app.trace(), "cross", app.state.layer, { words: true, special: false });
      weights = shown.weights(app.head(shown.map));
      links = alignmentOf(weights, shown.queries.labels.length, shown.keys.labels.length, least);
      rate = errorRate(links, app.trace().gold);
      score.textContent = t("alignment.aer", { ...rate, aer: decimals(100 * rate.aer, 1) });
      draw();
    }

    update();
    return {
      update,
      picture: () => picture,
      table: () => {
        const gold = new Map(app.trace().gold.map(([source, target, sure]) => [`${source}-${target}`, sure ? "sure" : "possible"]));
        return {
          columns: ["source", "source_word", "target", "target_word", "weight", "gold"],
          rows: links.map(([source, target]) => [source, shown.keys.labels[source], target, shown.queries.labels[target],
            weights[target * shown.keys.labels.length + source], gold.get(`${source}-${target}`) ?? ""]),
        };
      },
    };
  },
};
