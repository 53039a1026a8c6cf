// A weight as it came about: the query and the key of two words, dimension by dimension, their product, the scale, what
// a mask and a bias add, and softmax over the row.

import { keyHead, logSumExp, queryRow } from "../attention.js";
import { dimensionBars } from "../dimension_bars.js";
import { decimals, element, signed } from "../dom.js";
import { barCell, heading } from "../listing.js";
import { calculation, formula } from "../mathml.js";
import { factor, plain } from "../walks/matrices.js";

const written = (x) => (x === -Infinity ? "−∞" : Number.isNaN(x) ? "?" : signed(x));
const tex = (x) => (Number.isNaN(x) ? "\\text{?}" : plain(x));

const rowOf = ({ shape, values }, head, row) => {
  const [, rows, width] = shape;
  const begin = (head * rows + row) * width;
  return Array.from(values.subarray(begin, begin + width));
};

// Whether no query of the head reads a later key: the decoder's mask.
function isCausal(map, weights) {
  if (map.kind !== "decoder" || map.queries !== map.keys || map.queries < 2) return false;
  for (let i = 0; i < map.queries; ++i) {
    for (let j = i + 1; j < map.keys; ++j) if (weights[i * map.keys + j] !== 0) return false;
  }
  return true;
}

// What was added to the scores of a row, where the trace says it.
function biasOf({ bias, queries, keys }, head, query) {
  if (!bias) return null;
  const begin = ((bias.shape[0] === 1 ? 0 : head) * queries + query) * keys;
  return Array.from(bias.values.subarray(begin, begin + keys));
}

const strongest = (row) => row.reduce((best, x, j) => (x > row[best] ? j : best), 0);

// The chosen row of a map, taken apart.
function chosenRow(app, { query, key }) {
  const map = app.map(), head = app.head();
  const i = query >= 0 && query < map.queries ? query : Math.floor(map.queries / 2);
  const all = map.head(head), weights = Array.from(all.subarray(i * map.keys, (i + 1) * map.keys));
  const j = key >= 0 && key < map.keys ? key : strongest(weights);
  if (!map.hasQueriesAndKeys) return { map, head, i, j, weights };
  const shared = keyHead(head, map.heads, map.k.shape[0]);
  const q = rowOf(map.q, head, i), keys = Array.from({ length: map.keys }, (_, n) => rowOf(map.k, shared, n));
  const causal = isCausal(map, all);
  const row = queryRow({ q, keys, scale: map.scale, weights, bias: biasOf(map, head, i),
                         refused: causal ? keys.map((_, n) => n > i) : [] });
  return { map, head, shared, i, j, weights, q, k: keys[j], causal, row };
}

class QueryKeyView {
  constructor(host, app) {
    Object.assign(this, { host, app, t: (key, values) => app.t(key, values) });
    const { t } = this;
    this.queries = element("div", { class: "tokens of-query", role: "group", "aria-label": t("map.queries") });
    this.keys = element("div", { class: "tokens of-key", role: "group", "aria-label": t("map.keys") });
    this.bars = dimensionBars({ t, announce: (text) => app.announce(text) });
    this.equations = element("ol", { class: "qk-equations" });
    this.rows = element("tbody");
    this.caption = element("caption");
    const head = ["query_key.key", "query_key.product", "query_key.scaled", "query_key.added", "query_key.exponential", "query_key.weight"];
    this.note = element("p", { class: "quiet" }, t("query_key.missing"));
    this.content = element("div", { class: "qk-body" },
      element("section", {}, this.bars.node, this.equations),
      element("section", {}, element("div", { class: "scroll qk-row", tabindex: 0, role: "region", "aria-label": t("query_key.row") },
        element("table", { class: "listing" }, this.caption,
          heading(head.map((key) => t(key))), this.rows))));
    host.append(
      element("div", { class: "qk-words" },
        element("span", { class: "label" }, t("query_key.query")), this.queries,
        element("span", { class: "label" }, t("query_key.key")), this.keys),
      this.note, this.content);
    this.observer = new ResizeObserver(() => this.bars.resize());
    this.observer.observe(this.bars.node);
    this.update();
  }

  remove() {
    this.observer.disconnect();
  }

  update() {
    const { app, t } = this;
    const chosen = chosenRow(app, app.own(view));
    this.chosen = chosen;
    const { map, i, j, weights } = chosen;
    const trace = app.trace();
    this.queryLabels = trace.side(map.kind, "queries").labels;
    this.keyLabels = trace.side(map.kind, "keys").labels;
    this.chips(this.queries, this.queryLabels, i, null, (query) => app.setOwn(view, { query, key: -1 }));
    this.chips(this.keys, this.keyLabels, j, weights, (key) => app.setOwn(view, { query: i, key }));
    this.content.hidden = !map.hasQueriesAndKeys;
    this.picture = map.hasQueriesAndKeys ? this.bars.picture : null;
    this.note.hidden = map.hasQueriesAndKeys;
    if (!map.hasQueriesAndKeys) return;
    this.bars.show({ q: chosen.q, k: chosen.k, query: this.queryLabels[i], key: this.keyLabels[j], colours: app.colours });
    this.showEquations(chosen);
    this.showRow(chosen);
  }

  chips(node, labels, chosen, weights, choose) {
    if (node.childElementCount !== labels.length || node.dataset.labels !== labels.join("\n")) {
      node.replaceChildren(...labels.map((label) => element("button", { type: "button", class: "token", dir: "auto" }, label)));
      node.dataset.labels = labels.join("\n");
    }
    const most = weights && Math.max(...weights, 1e-9);
    [...node.children].forEach((chip, n) => {
      chip.onclick = () => choose(n);
      chip.setAttribute("aria-pressed", String(n === chosen));
      chip.style.setProperty("--shade", weights ? `${Math.round(46 * weights[n] / most)}%` : "0%");
      chip.title = weights ? `${labels[n]}: ${decimals(weights[n])}` : labels[n];
    });
  }

  showEquations({ map, q, k, row, j, weights, causal }) {
    const { t } = this;
    const width = q.length, added = row.added[j], adjusted = row.adjusted[j];
    const products = q.map((x, d) => x * k[d]);
    const root = Math.abs(map.scale * Math.sqrt(width) - 1) < 1e-3;
    const scale = root ? `/ \\sqrt{${width}}` : `\\times ${tex(map.scale)}`;
    const why = added === -Infinity ? (causal ? "query_key.causal" : "query_key.masked")
      : Number.isNaN(added) ? "query_key.unknown" : map.bias ? "query_key.known" : row.biased ? "query_key.biased" : "query_key.nothing";
    const step = (key, general, numbers, words = null) => element("li", {},
      element("h3", {}, t(key)), element("div", { class: "general" }, formula(general)),
      element("div", { class: "numbers-of calculation" }, calculation(numbers)), words ? element("p", { class: "quiet" }, words) : null);
    const shownSum = products.length > 3 ? [...products.slice(0, 3).map(factor), "\\ldots"] : products.map(factor);
    const below = logSumExp(row.adjusted);
    this.equations.replaceChildren(
      step("query_key.product", "q \\cdot k = \\sum_{d} q_d k_d", `${shownSum.join(" + ")} = ${tex(row.products[j])}`),
      step("query_key.scaled", root ? "s = \\frac{q \\cdot k}{\\sqrt{d_k}}" : "s = q \\cdot k \\times \\text{scale}",
           `${factor(row.products[j])} ${scale} = ${tex(row.scaled[j])}`),
      step("query_key.added", "s' = s + \\text{mask} + \\text{bias}",
           `${tex(row.scaled[j])} ${added < 0 ? "-" : "+"} ${tex(Math.abs(added))} = ${tex(adjusted)}`, t(why)),
      step("query_key.softmax", "w = \\frac{e^{s'}}{\\sum_{j} e^{s'_j}}",
           `\\frac{e^{${tex(adjusted)}}}{${tex(Math.exp(below))}} = ${decimals(row.weights[j])}`,
           t("query_key.model", { weight: decimals(weights[j]) })));
  }

  showRow({ i, j, row, weights }) {
    const { t } = this;
    this.caption.textContent = t("query_key.caption", { query: this.queryLabels[i] });
    const most = Math.max(...row.adjusted);
    this.rows.replaceChildren(...this.keyLabels.map((label, n) => {
      const choose = () => this.app.setOwn(view, { query: i, key: n });
      return element("tr", { class: n === j ? "chosen" : null, onclick: choose },
        element("th", { scope: "row", dir: "auto" }, label),
        [row.products[n], row.scaled[n], row.added[n]].map((x) => element("td", {}, written(x))),
        element("td", {}, most === -Infinity ? "0" : decimals(Math.exp(row.adjusted[n]))), barCell(weights[n], decimals(weights[n])));
    }));
  }

  table() {
    const { row, weights } = this.chosen;
    return {
      columns: ["key", "product", "scaled", "mask and bias", "weight"],
      rows: this.keyLabels.map((label, n) =>
        [label, ...(row ? [row.products[n], row.scaled[n], row.added[n]] : ["", "", ""]), weights[n]]),
    };
  }
}

export const view = {
  id: "query_key",
  state: { query: -1, key: -1 },
  of: "head",
  oneHead: true,
  controls: ["kind", "layer", "head"],
  available: (trace) => trace.maps.some((map) => map.hasQueriesAndKeys),
  mount: (host, app) => new QueryKeyView(host, app),
};
