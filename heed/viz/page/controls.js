// The frame's controls: what of a trace is shown. Each maker gives { node, update }; update brings the node in line
// with the state, without building it again, so that focus and a drag stay.
//
//   const layer = makers.layer(app);
//   toolbar.append(layer.node);

import { combinePanel } from "./combine_panel.js";
import { element } from "./dom.js";

// A labelled choice. options(): [[value, words]]; nothing is shown where there is one option alone.
export function choice({ label, options, value, choose }) {
  const select = element("select", { onchange: () => choose(select.value) });
  const node = element("label", { class: "field" }, element("span", {}, label), select);
  let filled = "";
  function update() {
    const there = options();
    const text = JSON.stringify(there);
    if (text !== filled) {
      select.replaceChildren(...there.map(([key, words]) => element("option", { value: key }, words)));
      filled = text;
    }
    select.value = String(value());
    node.hidden = there.length < 2;
  }
  update();
  return { node, update };
}

// The same as buttons side by side, one of which is pressed.
export function segments({ label, options, value, choose }) {
  const node = element("div", { class: "segments", role: "group", "aria-label": label });
  let filled = "";
  function update() {
    const there = options();
    const text = JSON.stringify(there);
    if (text !== filled) {
      node.replaceChildren(...there.map(([key, words, title]) =>
        element("button", { type: "button", value: key, title, onclick: () => choose(key) }, words)));
      filled = text;
    }
    for (const button of node.children) button.setAttribute("aria-pressed", button.value === String(value()));
    node.hidden = there.length < 2;
  }
  update();
  return { node, update };
}

// A box to tick; hidden where shown() is false. key: what it is found by when the page is drawn again.
export function check({ key, label, value, choose, shown = () => true }) {
  const box = element("input", { type: "checkbox", "data-key": key, onchange: () => choose(box.checked) });
  const node = element("label", { class: "check" }, box, element("span", {}, label));
  function update() {
    box.checked = value();
    node.hidden = !shown();
  }
  update();
  return { node, update };
}

// A number on a slider, from `least` to most(), and beside it the number in words.
export function range({ key, label, least, most, step = 1, value, choose, words = String }) {
  const input = element("input", { type: "range", min: least, step, "data-key": key, oninput: () => choose(input.valueAsNumber) });
  const output = element("output", {});
  const node = element("label", { class: "range" }, element("span", {}, label), input, output);
  function update() {
    input.max = String(most());
    input.value = String(value());
    output.textContent = words(value());
  }
  update();
  return { node, update };
}

export const makers = {
  kind: (app) => segments({
    label: app.t("kind"),
    options: () => app.kinds().map((kind) => [kind, app.t(`kind.${kind}.short`), app.t(`kind.${kind}`)]),
    value: () => app.kind(),
    choose: (kind) => app.set({ kind, layer: -1, head: "mean" }),
  }),
  layer: (app) => choice({
    label: app.t("map.layer"),
    options: () => app.trace().mapsOf(app.kind()).map((map, i) => [i, map.name]),
    value: () => app.trace().mapsOf(app.kind()).indexOf(app.map()),
    choose: (layer) => app.set({ layer: Number(layer) }),
  }),
  head: (app) => choice({
    label: app.t("map.head"),
    options: () => {
      const { heads, map } = app.shown();
      if (heads.length < 2) return [];
      const mean = app.view.oneHead ? [] : [["mean", app.t("map.mean", { heads: map.heads })]];
      return [...mean, ...heads.map((head) => [head, String(head)])];
    },
    value: () => app.head(),
    choose: (head) => app.set({ head }),
  }),
  combine: combinePanel,
};

export const layerLabel = (app, map) => (map.layer === null ? map.path : app.t("map.layer-number", { layer: map.layer }));

// What a figure is of, in words: "Cross-attention · layer 2 · head 1" of a "head", the first two of a "layer", the
// first of a "kind".
export function description(app, of) {
  const { map, options } = app.shown();
  const parts = [app.t(`kind.${map.kind}`)];
  if (of === "kind") return parts[0];
  if (options.layers === "one") parts.push(layerLabel(app, map));
  else if (options.layers === "mean") parts.push(app.t("map.all-layers"));
  else parts.push(app.t(`combine.layers.${options.layers}.to`, { layer: map.name }));
  if (of === "head" && map.heads > 1) {
    const head = app.head();
    parts.push(head === "mean" ? app.t("map.mean", { heads: map.heads }) : app.t("map.head-number", { head }));
  }
  return parts.join(" · ");
}
