// The matrix: every weight of a layer and head as a cell, on a canvas.
import { choice, description } from "../controls.js";
import { decimals, element } from "../dom.js";
import { roundEnd } from "../palette.js";
import { popover } from "../popover.js";
import { legend } from "../legend.js";
import { columnOrder, columnOrders, rowOrder, rowOrders } from "./matrix_order.js";
import { listen } from "./matrix_input.js";
import { MatrixImage } from "./matrix_image.js";
import { layoutOf, paint, vector } from "./matrix_picture.js";
import { MatrixWindow } from "./matrix_window.js";

const kMostInWords = 400;  // rows
const kRest = 250;  // milliseconds without zooming and moving

// "3,7": the pinned cell's query and key.
const parseCell = (text) => /^(\d+),(\d+)$/u.exec(text)?.slice(1).map(Number) ?? null;

const inPlace = (numbers, count) => numbers.length === count && numbers.every((number, i) => number === i);

function permuted(weights, columns, rowNumbers, columnNumbers) {
  if (inPlace(columnNumbers, columns) && inPlace(rowNumbers, weights.length / columns)) return weights;
  const out = new Float32Array(rowNumbers.length * columnNumbers.length);
  let at = 0;
  for (const row of rowNumbers) for (const column of columnNumbers) out[at++] = weights[row * columns + column];
  return out;
}

export const view = {
  id: "matrix",
  state: { cell: "", sight: "", rows: "place", columns: "place", "only-rows": "", "only-columns": "" },
  of: "head",
  controls: ["kind", "layer", "head", "combine"],
  available: (trace) => trace.maps.length > 0,
  mount(host, app) {
    const t = (key, values) => app.t(key, values);
    const own = () => app.own(view);
    let shown, weights, rows, columns, values, window, image, layout, end, pointed = null, marked = null, frame = 0, made = "", seen = "", rest = 0;

    // --- The controls ----------------------------------------------------------------------------------------------
    const order = (axis, all) => choice({
      label: t(`matrix.${axis}`), options: () => all.map((by) => [by, t(`matrix.by.${by}`)]),
      value: () => own()[axis], choose: (by) => app.setOwn(view, { [axis]: by }),
    });
    const filter = (axis) => {
      const input = element("input", { type: "search", placeholder: t("matrix.only.any"), oninput: () => app.setOwn(view, { [`only-${axis}`]: input.value }) });
      const node = element("label", { class: "field" }, element("span", {}, t(`matrix.only.${axis}`)), input);
      return { node, update: () => input.value !== own()[`only-${axis}`] && (input.value = own()[`only-${axis}`]) };
    };
    const parts = [order("rows", rowOrders), filter("rows"), order("columns", columnOrders), filter("columns")];
    const count = element("span", { class: "count" });
    const zoomed = (key, words, act) => element("button", { type: "button", class: "button", "aria-label": t(`matrix.${key}`), title: t(`matrix.${key}`), onclick: act }, words);
    const zooms = element("div", { class: "zooms" },
      zoomed("closer", "+", () => change(() => window.zoom(1.5))),
      zoomed("wider", "−", () => change(() => window.zoom(1 / 1.5))),
      zoomed("whole", "⤢", () => change(() => window.whole())));
    const scale = legend(app);
    const readout = element("p", { class: "readout" });
    const canvas = element("canvas", { tabindex: 0, role: "application", "aria-roledescription": t("matrix.title") });
    const none = element("p", { class: "quiet", hidden: true }, t("matrix.none"));
    const list = element("ol", { class: "sentences-list" });
    const inWords = element("details", { class: "in-words" }, element("summary", {}, t("matrix.in-words")), list);
    inWords.addEventListener("toggle", fillWords);
    host.append(
      element("div", { class: "toolbar" }, popover([t("matrix.sort"), count], parts.map((part) => part.node)), zooms, scale.node),
      readout, element("div", { class: "canvas" }, canvas), none, inWords);

    // --- What is shown ---------------------------------------------------------------------------------------------
    function gather() {
      const state = own();
      shown = app.shown();
      pointed = null;
      weights = shown.weights(app.head());
      const wide = shown.keys.labels.length, tall = shown.queries.labels.length;
      rows = rowOrder({ weights, columns: wide, labels: shown.queries.labels, by: state.rows, only: state["only-rows"] });
      columns = columnOrder({ weights, rows: tall, columns: wide, labels: shown.keys.labels, by: state.columns, only: state["only-columns"] });
      values = permuted(weights, wide, rows, columns);
      end = roundEnd(weights);
      image = new MatrixImage(values, rows.length, columns.length, end, app.scale.pixels(app.dark));
      if (window?.rows === rows.length && window.columns === columns.length) return;
      if (window) restSoon();
      window = new MatrixWindow(rows.length, columns.length);
    }

    function lay() {
      const room = Math.max(320, Math.min(globalThis.innerHeight * 0.78, 900));
      layout = layoutOf(window, rows.map((row) => shown.queries.labels[row]), columns.map((column) => shown.keys.labels[column]), Math.min(host.clientWidth, 1100), room);
      const density = globalThis.devicePixelRatio || 1;
      canvas.width = Math.round(layout.width * density);
      canvas.height = Math.round(layout.height * density);
      canvas.style.setProperty("width", `${layout.width}px`);
      canvas.style.setProperty("height", `${layout.height}px`);
      paintNow();
    }

    function paintNow() {
      cancelAnimationFrame(frame);
      frame = 0;
      const density = globalThis.devicePixelRatio || 1;
      paint(canvas.getContext("2d"), layout, { app, image, marked, density });
      Object.assign(canvas.dataset, { left: layout.left, top: layout.top, cell: window.cell });
      canvas.style.setProperty("touch-action", window.fitted ? "pan-x pan-y" : "none");
    }

    function paintSoon() {
      frame ||= requestAnimationFrame(paintNow);
    }

    function change(act) {
      act();
      paintSoon();
      restSoon();
    }

    // What is in sight goes into the address when it rests: browsers take few changes of an address in a second.
    function restSoon() {
      clearTimeout(rest);
      rest = setTimeout(() => {
        if (window.sight === own().sight) return;
        seen = window.sight;
        app.setOwn(view, { sight: seen });
      }, kRest);
    }

    const isEmpty = () => rows.length === 0 || columns.length === 0;

    // --- Pointing at cells -----------------------------------------------------------------------------------------
    const queryOf = (cell) => shown.queries.labels[rows[cell.row]];
    const keyOf = (cell) => shown.keys.labels[columns[cell.column]];

    function pinned() {
      const cell = parseCell(own().cell);
      if (!cell) return null;
      const row = rows.indexOf(cell[0]), column = columns.indexOf(cell[1]);
      return row >= 0 && column >= 0 ? { row, column } : null;
    }

    function read(cell, aloud = false) {
      pointed = cell;
      marked = cell ?? pinned();
      if (marked) {
        const weight = decimals(values[marked.row * columns.length + marked.column]);
        readout.replaceChildren(element("b", {}, element("bdi", {}, queryOf(marked))), ` ${t("heads.reads")} `,
          element("b", {}, element("bdi", {}, keyOf(marked))), ` ${weight}`);
        if (aloud) app.announce(readout.textContent);
      } else {
        readout.replaceChildren(element("span", { class: "quiet" }, t("matrix.hint")));
      }
    }

    function mark(cell, aloud) {
      read(cell, aloud);
      paintSoon();
    }

    listen(canvas, {
      window: () => window, layout: () => layout, change,
      hover: (cell) => mark(cell),
      pin: (cell) => {
        const here = cell && `${rows[cell.row]},${columns[cell.column]}`;
        app.setOwn(view, { cell: !cell || here === own().cell ? "" : here });
      },
      marked: () => marked,
      go(cell) {
        change(() => window.show(cell));
        read(cell, true);
      },
    });

    // Each row in words, for those who cannot see the picture, and for those who want to read it.
    function fillWords() {
      if (!inWords.open) return;
      list.replaceChildren(...rows.slice(0, kMostInWords).map((_, row) => {
        const best = [...columns.keys()].map((column) => ({ column, weight: values[row * columns.length + column] }))
          .sort((a, b) => b.weight - a.weight).slice(0, 3).filter(({ weight }) => weight >= 0.0005);
        return element("li", {}, element("bdi", {}, queryOf({ row })), ` ${t("heads.reads")} `,
          best.flatMap(({ column, weight }, i) => [i > 0 ? ", " : "", element("bdi", {}, keyOf({ column })), ` ${decimals(weight)}`]));
      }));
    }

    function update() {
      for (const part of parts) part.update();
      const state = own();
      count.textContent = String(["rows", "columns"].filter((axis) => state[axis] !== "place").length
        + ["only-rows", "only-columns"].filter((key) => state[key] !== "").length).replace(/^0$/u, "");
      const wanted = JSON.stringify([{ ...state, cell: "", sight: "" }, app.head()]);
      if (wanted !== made || shown !== app.shown()) {
        made = wanted;
        gather();
      }
      const empty = isEmpty();
      none.hidden = !empty;
      canvas.hidden = empty;
      canvas.setAttribute("aria-label", t("matrix.label", { what: description(app, view.of), rows: rows.length, columns: columns.length }));
      scale.update(end);
      if (empty) return readout.replaceChildren();
      read(pointed);
      lay();
      if (state.sight !== seen) {
        seen = state.sight;
        window.see(seen);
        paintNow();
      }
      fillWords();
    }

    update();
    let lastWidth = host.clientWidth;
    const watcher = new ResizeObserver(() => {
      if (host.clientWidth === lastWidth || canvas.hidden) return;
      lastWidth = host.clientWidth;
      lay();
    });
    watcher.observe(host);
    return {
      update,
      remove() {
        watcher.disconnect();
        clearTimeout(rest);
        cancelAnimationFrame(frame);
      },
      // Of no cells there is none.
      get picture() {
        return isEmpty() ? null : () => vector(layout, { app, values, end, image });
      },
      table: () => ({
        columns: ["query", "query_token", "key", "key_token", "weight"],
        rows: rows.flatMap((query, row) => columns.map((key, column) =>
          [query, shown.queries.labels[query], key, shown.keys.labels[key], values[row * columns.length + column]])),
      }),
    };
  },
};
