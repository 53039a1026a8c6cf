// The panel of combinations (combine.js): opened by a button that says how many are in force.
import { defaults, layerModes, segmentsOf } from "./combine.js";
import { check, choice, range } from "./controls.js";
import { element } from "./dom.js";
import { popover } from "./popover.js";

export function combinePanel(app) {
  const hasSpecial = () => ["queries", "keys"].some((axis) => app.trace().side(app.kind(), axis).special.includes(true));
  const hasPieces = () => ["queries", "keys"].some((axis) => {
    const { words } = app.trace().side(app.kind(), axis);
    return words.some((word, i) => word >= 0 && word === words[i - 1]);
  });
  const orOff = (value, words) => (value > 0 ? words : app.t("combine.off"));
  const ofText = (key, axis) => choice({
    label: app.t(`combine.${key}`),
    options: () => {
      const there = segmentsOf(app.trace().side(app.kind(), axis));
      return there.length === 0 ? [] : [[-1, app.t("combine.all-texts")], ...there.map((segment) => [segment, String(segment + 1)])];
    },
    value: () => app.state[key],
    choose: (segment) => app.set({ [key]: Number(segment) }),
  });
  const parts = [
    choice({
      label: app.t("combine.layers"),
      options: () => layerModes(app.trace(), app.kind()).map((mode) => [mode, app.t(`combine.layers.${mode}`)]),
      value: () => app.shown().options.layers,
      choose: (layers) => app.set({ layers }),
    }),
    check({
      label: app.t("combine.words"), shown: hasPieces,
      value: () => app.state.words, choose: (words) => app.set({ words }),
    }),
    check({
      label: app.t("combine.special"), shown: hasSpecial,
      value: () => !app.state.special, choose: (hidden) => app.set({ special: !hidden }),
    }),
    ofText("readers", "queries"),
    ofText("read", "keys"),
    check({
      label: app.t("combine.normal"), value: () => app.state.normal, choose: (normal) => app.set({ normal }),
    }),
    range({
      label: app.t("combine.least"), least: 0, most: () => 0.5, step: 0.01,
      value: () => app.state.least, choose: (least) => app.set({ least }), words: (value) => orOff(value, value.toFixed(2)),
    }),
    range({
      label: app.t("combine.top"), least: 0, most: () => 10,
      value: () => app.state.top, choose: (top) => app.set({ top }), words: (value) => orOff(value, String(value)),
    }),
  ];
  const note = element("p", { class: "quiet" });
  const count = element("span", { class: "count" });
  const reset = element("button", { type: "button", class: "plain", onclick: () => app.set(defaults) }, app.t("combine.reset"));
  const panel = popover([app.t("combine.title"), count], [...parts.map((part) => part.node), note, reset]);
  function update() {
    for (const part of parts) part.update();
    const inForce = Object.keys(defaults).filter((key) => app.state[key] !== defaults[key]).length;
    count.textContent = inForce > 0 ? String(inForce) : "";
    reset.hidden = inForce === 0;
    note.textContent = app.t(`combine.layers.${app.shown().options.layers}.text`);
  }
  update();
  return { node: panel, update };
}
