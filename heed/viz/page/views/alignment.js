// Alignment beside gold: the words' matrix with a mark where a person aligned, and the alignment error rate.
import { alignmentOf, betweenWords, errorRate, whereShown } from "../alignment.js";
import { cellReader } from "../cell_reader.js";
import { combine } from "../combine.js";
import { range } from "../controls.js";
import { decimals, element, fitted, kFonts, svg, textWidth } from "../dom.js";
import { roundEnd } from "../palette.js";

const kCell = 26;
const kSize = 13;

export const view = {
  id: "alignment",
  state: { least: 0 },
  fractions: ["least"],
  kinds: ["cross"],
  of: "head",
  controls: ["layer", "head"],
  available: (trace) => trace.gold !== null && trace.kinds.includes("cross"),
  mount(host, app) {
    const t = (key, values) => app.t(key, values);
    const score = element("p", { class: "readout" });
    const reader = cellReader({ app, hint: t("alignment.hint"), say: ({ row, column }) => [
      element("b", {}, element("bdi", {}, shown.queries.labels[row])), ` ${t("heads.reads")} `,
      element("b", {}, element("bdi", {}, shown.keys.labels[column])), ` ${decimals(weightAt(column, row))}`,
    ] });
    const threshold = range({
      label: t("alignment.least"), least: 0, most: () => 0.9, step: 0.05, value: () => app.own(view).least,
      choose: (least) => app.setOwn(view, { least }), words: (least) => (least > 0 ? decimals(least, 2) : t("combine.off")),
    });
    threshold.node.classList.add("inline");
    const mark = (name) => element("span", { class: `key ${name}` }, element("i", {}), t(`alignment.${name}`));
    host.append(
      element("div", { class: "toolbar" }, threshold.node, mark("gold"), mark("possible"), mark("found")),
      score, reader.node, reader.said, element("p", { class: "quiet" }, t("alignment.how")));
    let shown, weights, links, picture;
    const weightAt = (column, row) => weights[row * shown.keys.labels.length + column];

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
        x: x(column), y: y(row), width: kCell, height: kCell, fill: app.scale.colour(weightAt(column, row) / end, app.dark),
        stroke: app.colours.faint, "data-row": row, "data-column": column,
      }))));
      const gold = whereShown(app.trace().gold, shown).map(([column, row, sure]) => svg("rect", {
        x: x(column) + 2, y: y(row) + 2, width: kCell - 4, height: kCell - 4, rx: 3, fill: "none", stroke: app.colours.mark,
        "stroke-width": 2.5, "stroke-dasharray": sure ? null : "4 3", "data-gold": `${column}-${row}`, "pointer-events": "none",
      }));
      // A disc that is seen on any cell.
      const found = links.map(([column, row]) => svg("circle", {
        cx: x(column) + kCell / 2, cy: y(row) + kCell / 2, r: 5, fill: app.colours.panel, stroke: app.colours.ink, "stroke-width": 1.5,
        "data-link": `${column}-${row}`, "pointer-events": "none",
      }));
      picture = svg("svg", {
        xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": kFonts, "font-size": kSize,
      }, cells, gold, found,
      rows.map((text, row) => svg("text", { x: left - 7, y: y(row) + 17, "text-anchor": "end", fill: app.colours.ink }, text)),
      columns.map((text, column) => svg("text", { transform: `translate(${x(column) + 16} ${rise - 6}) rotate(-45)`, fill: app.colours.ink }, text)));
      const size = { rows: rows.length, columns: columns.length };
      reader.show(picture, { ...size, label: t("alignment.label", size) });
    }

    function update() {
      const { least } = app.own(view);
      threshold.update();
      // Gold is of words: pieces together, without special tokens.
      shown = combine(app.trace(), "cross", app.state.layer, { words: true, special: false });
      weights = shown.weights(app.head(shown.map));
      links = alignmentOf(weights, shown.queries.labels.length, shown.keys.labels.length, least);
      const rate = errorRate(betweenWords(links, shown), app.trace().gold);
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
          rows: betweenWords(links, shown).map(([source, target], i) => {
            const [column, row] = links[i];
            return [source, shown.keys.labels[column], target, shown.queries.labels[row], weightAt(column, row),
              gold.get(`${source}-${target}`) ?? ""];
          }),
        };
      },
    };
  },
};
