// Heads over a word: lines between words, heads in colours, a word pointed at or pinned, and a second sentence beside.
import { choice, description, segments } from "../controls.js";
import { decimals, element } from "../dom.js";
import { headColour } from "../palette.js";
import { shortened } from "../tokens.js";
import { headsPicture } from "./heads_picture.js";

// What is pinned, as the address has it: "q3" a word that reads, "k3" one that is read.
const parsePin = (text, shown) => {
  const found = /^([qk])(\d+)$/u.exec(text);
  if (!found) return null;
  const axis = found[1] === "q" ? "queries" : "keys";
  const index = Number(found[2]);
  return index < shown[axis].labels.length ? { axis, index } : null;
};
const formatPin = (pointed) => `${pointed.axis === "queries" ? "q" : "k"}${pointed.index}`;

// The heads that are on: those of "0.3", all for "".
function headsOn(text, shown) {
  if (shown.heads.length === 0) return ["mean"];
  if (text === "mean") return ["mean"];
  const asked = text.split(".").map(Number);
  const on = text === "" ? shown.heads : shown.heads.filter((head) => asked.includes(head));
  return on.length > 0 ? on : shown.heads;
}

// The same word in another sentence: the nearest with the same letters.
function sameWord(pointed, from, to) {
  if (!pointed) return null;
  const label = from[pointed.axis].labels[pointed.index];
  const there = [...to[pointed.axis].labels.keys()].filter((i) => to[pointed.axis].labels[i] === label);
  if (there.length === 0) return null;
  const away = (i) => Math.abs(i - pointed.index);
  return { axis: pointed.axis, index: there.reduce((best, i) => (away(i) < away(best) ? i : best)) };
}

// The words that a pointed word reads most, or that read it most, by the mean of the heads that are on.
function strongest(shown, heads, pointed, most = 5) {
  const columns = shown.keys.labels.length;
  const other = pointed.axis === "queries" ? "keys" : "queries";
  return shown[other].labels
    .map((label, index) => {
      const at = pointed.axis === "queries" ? pointed.index * columns + index : index * columns + pointed.index;
      return { label, index, weight: heads.reduce((sum, head) => sum + shown.weights(head)[at], 0) / heads.length };
    })
    .filter(({ weight }) => weight >= 0.0005)
    .sort((a, b) => b.weight - a.weight || a.index - b.index)
    .slice(0, most);
}

export const view = {
  id: "heads",
  state: { on: "", pin: "", layout: "columns", beside: -1 },
  of: "layer",
  controls: ["kind", "layer", "combine"],
  available: (trace) => trace.maps.length > 0,
  mount(host, app) {
    const t = (key, values) => app.t(key, values);
    let panels = [];
    let hovered = null;  // { axis, index, panel: its number }

    const layout = segments({
      label: t("heads.layout"),
      options: () => [["columns", t("heads.layout.columns")], ["line", t("heads.layout.line")]],
      value: () => app.own(view).layout,
      choose: (one) => app.setOwn(view, { layout: one }),
    });
    const beside = choice({
      label: t("heads.beside"),
      options: () => (app.traces.length < 2 ? [] : [
        [-1, t("heads.beside.none")],
        ...app.traces.map((trace, i) => [i, `${i + 1}. ${shortened(trace.title, 40)}`]).filter(([i]) => i !== app.state.trace),
      ]),
      value: () => app.own(view).beside,
      choose: (number) => app.setOwn(view, { beside: Number(number) }),
    });
    const chips = element("div", { class: "chips", role: "group", "aria-label": t("map.heads") });
    const readout = element("p", { class: "readout" });
    const note = element("p", { class: "quiet" });
    const pictures = element("div", { class: "pair" });
    host.append(element("div", { class: "toolbar" }, chips, layout.node, beside.node), readout, pictures, note);

    function drawChips() {
      const shown = app.shown();
      const on = headsOn(app.own(view).on, shown);
      chips.hidden = shown.heads.length < 2;
      const focused = host.getRootNode().activeElement?.dataset.key;
      const choose = (heads) => app.setOwn(view, { on: heads.length === shown.heads.length ? "" : heads.join(".") });
      const chip = (head) => element("button", {
        type: "button", class: "chip", "data-key": `head-${head}`, "aria-pressed": String(on.includes(head)),
        "aria-label": t("map.head-number", { head }), title: t("heads.chip"), style: { "--colour": headColour(head, app.dark) },
        onclick: () => {
          const next = on.includes("mean") ? [head] : shown.heads.filter((one) => (one === head) !== on.includes(one));
          choose(next.length > 0 ? next : shown.heads);
        },
        ondblclick: () => choose([head]),
      }, String(head));
      const whole = (key, value) => element("button", {
        type: "button", class: "chip plain", "data-key": `head-${key}`, "aria-pressed": String(app.own(view).on === value),
        onclick: () => app.setOwn(view, { on: value }),
      }, t(`heads.${key}`));
      chips.replaceChildren(element("span", { class: "label" }, t("map.heads")), whole("all", ""), whole("mean", "mean"),
        ...shown.heads.map(chip));
      if (focused) chips.querySelector(`[data-key="${focused}"]`)?.focus();
    }

    function describe(panel, pointed) {
      const { shown, heads } = panel;
      if (!pointed) return [];
      const words = strongest(shown, heads, pointed);
      const name = shown[pointed.axis].labels[pointed.index];
      return [
        element("b", {}, element("bdi", {}, name)), ` ${t(pointed.axis === "queries" ? "heads.reads" : "heads.read-by")}`,
        ...words.flatMap(({ label, weight }) => [element("span", { class: "token" }, element("bdi", {}, label), ` ${decimals(weight)}`), " "]),
        heads.length > 1 ? element("span", { class: "quiet" }, ` (${t("heads.mean-of", { heads: heads.length })})`) : null,
      ];
    }

    function point(pointed, from = panels[0], aloud = false) {
      for (const panel of panels) panel.picture.point(panel === from ? pointed : sameWord(pointed, from.shown, panel.shown));
      const words = describe(from, pointed);
      readout.replaceChildren(...(words.length > 0 ? words.filter(Boolean) : [element("span", { class: "quiet" }, t("heads.hint"))]));
      if (aloud) app.announce(readout.textContent);
      const count = (what) => panels.reduce((sum, { picture }) => sum + picture[what], 0);
      note.textContent = count("left") > 0 ? t("heads.left", { drawn: count("all") - count("left"), all: count("all") }) : "";
    }

    const pinned = () => parsePin(app.own(view).pin, panels[0].shown);
    const wordUnder = (event) => {
      const node = event.target.closest?.(".word");
      return node ? { axis: node.dataset.axis, index: Number(node.dataset.index) } : null;
    };
    // A panel's word in the first one, whose words are pinned.
    const inFirst = (word, panel) => (panel === panels[0] ? word : sameWord(word, panel.shown, panels[0].shown));
    const same = (a, b) => a?.axis === b?.axis && a?.index === b?.index;

    function listen(panel, number) {
      const { node, places } = panel.picture;
      const go = (axis, index) => {
        hovered = { axis, index, panel: number };
        point(hovered, panel, true);
      };
      node.addEventListener("pointermove", (event) => {
        const word = wordUnder(event);
        if (same(word, hovered) && (!word || hovered.panel === number)) return;
        hovered = word && { ...word, panel: number };
        if (word) point(word, panel);
        else point(pinned());
      });
      node.addEventListener("pointerleave", () => {
        hovered = null;
        point(pinned());
      });
      node.addEventListener("click", (event) => {
        const word = wordUnder(event);
        const here = inFirst(word, panel);
        app.setOwn(view, { pin: !here || same(here, pinned()) ? "" : formatPin(here) });
      });
      node.addEventListener("keydown", (event) => {
        const now = hovered?.panel === number ? hovered : sameWord(pinned(), panels[0].shown, panel.shown);
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? (app.own(view).layout === "line" ? { ArrowRight: 1, ArrowLeft: -1 }[event.key] : undefined);
        if (event.key === "Escape") {
          hovered = null;
          app.setOwn(view, { pin: "" });
        } else if (event.key === "Enter" || event.key === " ") {
          const here = inFirst(now, panel);
          if (here) app.setOwn(view, { pin: formatPin(here) });
        } else if (step !== undefined) {
          const axis = now?.axis ?? "queries";
          const last = panel.shown[axis].labels.length - 1;
          go(axis, now ? Math.min(Math.max(now.index + step, 0), last) : 0);
        } else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && !places.shared) {
          const axis = event.key === "ArrowRight" ? "keys" : "queries";
          go(axis, Math.min(now?.index ?? 0, panel.shown[axis].labels.length - 1));
        } else {
          return;
        }
        event.preventDefault();
      });
    }

    function panelOf(trace, number, width) {
      const shown = app.shown(trace);
      const heads = headsOn(app.own(view).on, shown);
      const picture = headsPicture(app, shown, {
        layout: app.own(view).layout, width, heads, label: t("heads.label", { what: description(app, view.of) }),
      });
      const panel = { trace, shown, heads, picture };
      listen(panel, number);
      return panel;
    }

    function update() {
      layout.update();
      beside.update();
      drawChips();
      const other = app.traces[app.own(view).beside];
      const shows = other && other !== app.trace() && other.kinds.includes(app.kind()) ? [app.trace(), other] : [app.trace()];
      const width = Math.min(host.clientWidth / shows.length - (shows.length > 1 ? 16 : 0), 720);
      const focused = panels.findIndex(({ picture }) => picture.node === host.getRootNode().activeElement);
      panels = shows.map((trace, number) => panelOf(trace, number, width));
      pictures.replaceChildren(...panels.map((panel) => element("div", { class: "one" },
        panels.length > 1 ? element("p", { class: "sentence", dir: "auto" }, panel.trace.title) : null,
        element("div", { class: "scroll", tabindex: panel.picture.places.width > width + 1 ? 0 : null }, panel.picture.node))));
      if (focused >= 0) (panels[focused] ?? panels[0]).picture.node.focus();
      const from = panels[hovered?.panel];
      if (!from || hovered.index >= from.shown[hovered.axis].labels.length) hovered = null;
      if (hovered) point(hovered, from);
      else point(pinned());
    }

    update();
    const watcher = new ResizeObserver(() => {
      if (host.clientWidth !== lastWidth) {
        lastWidth = host.clientWidth;
        update();
      }
    });
    let lastWidth = host.clientWidth;
    watcher.observe(host);
    return {
      update,
      remove: () => watcher.disconnect(),
      picture: () => panels[0].picture.node,
      table() {
        const { shown, heads } = panels[0];
        const rows = [];
        for (const head of heads) {
          shown.queries.labels.forEach((query, i) => shown.keys.labels.forEach((key, j) =>
            rows.push([head, i, query, j, key, shown.weights(head)[i * shown.keys.labels.length + j]])));
        }
        return { columns: ["head", "query", "query_token", "key", "key_token", "weight"], rows };
      },
    };
  },
};
