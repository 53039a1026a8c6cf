// The tutorials' small examples as steps that one clicks through. Every given number can be changed, and everything
// after it is computed again, as `heed explain` computes it.

import { check, range } from "../controls.js";
import { element, scrolledTo } from "../dom.js";
import { calculation, formula } from "../mathml.js";
import { MatrixView } from "../matrix_view.js";
import { walkPicture } from "../walk_picture.js";
import { walks } from "../walks/all.js";
import { notation } from "../notation.js";
import { readEdits, writeEdits } from "../walks/edits.js";
import { numberStyle } from "../walks/matrices.js";

const walkOf = (id) => walks.find((walk) => walk.id === id) ?? walks[0];

// The numbers of a step, computed ones last, without what is the same matrix in another place.
const shownIn = (step) => step.shown.flat().filter((part) => typeof part !== "string");

// What is pointed at first: a number that the step computes.
function firstPointed(step) {
  const matrix = step.matrices.find((one) => (step.point ? one.id === step.point : one.from)) ?? null;
  return matrix && { id: matrix.id, row: 0, column: 0 };
}

class WalkView {
  constructor(host, app) {
    Object.assign(this, { host, app, t: (key, values) => app.t(key, values) });
    this.read();
    this.chooser = element("select", { "data-key": "walk-example", onchange: () => app.setOwn(view, { example: this.chooser.value, step: 0, numbers: "" }) },
      walks.map((walk) => element("option", { value: walk.id }, this.t(`walk.${walk.id}`))));
    this.reset = element("button", { type: "button", class: "button", onclick: () => app.setOwn(view, { numbers: "" }) }, this.t("walk.reset"));
    this.introduction = element("p", { class: "walk-introduction" });
    this.controls = element("div", { class: "walk-controls" });
    this.steps = element("ol", { class: "walk-steps", "aria-label": this.t("walk.steps"), onkeydown: (event) => this.keys(event) });
    this.panel = element("section", { class: "walk-panel", "aria-live": "off" });
    host.append(
      element("div", { class: "walk-head" },
        element("label", { class: "field" }, element("span", {}, this.t("walk.example")), this.chooser), this.controls, this.reset),
      this.introduction,
      element("div", { class: "walk-body" }, this.steps, this.panel));
    this.build();
  }

  read() {
    const { example, step, numbers } = this.app.own(view);
    this.walk = walkOf(example);
    this.edits = readEdits(this.walk, numbers);
    this.computed = this.walk.steps(this.edits.inputs, this.edits.controls);
    this.at = Math.min(Math.max(step, 0), this.computed.length - 1);
  }

  get step() {
    return this.computed[this.at];
  }

  // The words of a step: those of its variant where its numbers decide what is to be said.
  words(step, part = "") {
    const key = ["walk", this.walk.id, step.words ?? step.name, step.variant].filter(Boolean).join(".");
    const text = this.t(key + part, { number: this.computed.indexOf(step) });
    return part === "" ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  }

  meaning(step) {
    const said = (step.says ?? []).map((key) => this.t(`walk.${this.walk.id}.${key}.text`));
    return [this.words(step, ".text"), ...said].join(this.app.language === "zh" ? "" : " ");
  }

  // What tells one drawing from another; the numbers alone do not.
  get shape() {
    const parts = shownIn(this.step).map(({ id, rows, columns }) => [id, rows, columns]);
    return JSON.stringify([this.walk.id, this.at, this.computed.length, this.edits.controls, parts]);
  }

  update() {
    const before = this.shape, step = this.at, walk = this.walk;
    this.read();
    if (this.shape !== before) this.build();
    else this.fill();
    if (step !== this.at || walk !== this.walk) {
      this.app.announce(`${this.t("walk.step", { number: this.at + 1, count: this.computed.length })}: ${this.words(this.step)}`);
    }
  }

  build() {
    this.chooser.value = this.walk.id;
    this.introduction.replaceChildren(...notation(this.t(`walk.${this.walk.id}.text`)));
    this.buildControls();
    this.buildSteps();
    this.buildPanel();
    this.fill();
  }

  buildControls() {
    const change = (key, value) =>
      this.app.setOwn(view, { numbers: writeEdits(this.walk, { ...this.edits, controls: { ...this.edits.controls, [key]: value } }) });
    const focused = this.host.getRootNode().activeElement?.dataset?.key;
    const here = this.walk.controls.filter(({ steps }) => !steps || steps.includes(this.step.name));
    this.controls.replaceChildren(...here.map(({ key, initial, least, most }) => {
      const parts = {
        key: `walk-${key}`, label: this.t(`walk.${this.walk.id}.control.${key}`),
        value: () => this.edits.controls[key], choose: (value) => change(key, value),
      };
      if (typeof initial === "boolean") return check(parts).node;
      const { node } = range({ ...parts, least, most: () => most });
      node.classList.add("inline");
      return node;
    }));
    if (focused) this.controls.querySelector(`[data-key="${focused}"]`)?.focus();
  }

  buildSteps() {
    const focused = this.steps.contains(this.host.getRootNode().activeElement);
    this.steps.replaceChildren(...this.computed.map((step, i) => element("li", {}, element("button", {
      type: "button", "aria-current": i === this.at ? "step" : null, tabindex: i === this.at ? 0 : -1,
      class: i < this.at ? "done" : null, onclick: () => this.go(i),
    }, element("span", { class: "number", "aria-hidden": "true" }, String(i + 1)), element("span", {}, this.words(step))))));
    const current = this.steps.children[this.at].firstChild;
    if (focused) current.focus();
    scrolledTo(this.steps, current);  // on a narrow screen the list is a row
  }

  buildPanel() {
    const { step, t } = this;
    const focused = this.host.getRootNode().activeElement?.dataset?.key;
    const hooks = {
      t,
      edit: (input, row, column, value) => this.edit(input, row, column, value),
      point: (matrix, row, column) => this.point({ id: matrix.id, row, column }),
    };
    this.views = [];
    const part = (one) => {
      if (typeof one === "string") return one === "" ? null : element("span", { class: "operator" }, formula(one));
      const drawn = new MatrixView(one, hooks);
      this.views.push(drawn);
      return drawn.node;
    };
    this.how = element("p", { class: "walk-how calculation" });
    this.pointed = firstPointed(step);
    const turn = (to, key) => element("button", {
      type: "button", class: `button ${key}`, "data-key": `walk-${key}`, disabled: !this.computed[to], onclick: () => this.go(to),
    }, t(`walk.${key}`));
    this.panel.replaceChildren(...[
      element("h3", {}, element("span", { class: "quiet" }, t("walk.step", { number: this.at + 1, count: this.computed.length })),
        " ", this.words(step)),
      element("div", { class: "walk-formula" }, step.formula.split("\\quad").map((one) => element("span", { class: "calculation" }, calculation(one)))),
      this.how,
      ...step.shown.map((line) => element("div", { class: "equation" }, line.map(part))),
      element("p", { class: "walk-meaning" }, notation(this.meaning(step))),
      element("div", { class: "walk-turn" }, turn(this.at - 1, "previous"), turn(this.at + 1, "next"),
        this.command = element("code", { class: "walk-command" })),
    ].filter(Boolean));
    if (focused) this.panel.querySelector(`[data-key="${focused}"]:not(:disabled)`)?.focus();
  }

  // The numbers, in the elements that are there.
  fill() {
    const changed = writeEdits(this.walk, this.edits) !== "";
    this.reset.hidden = !changed;
    const { inputs, controls } = this.edits;
    // The other examples have no options for a reader's own numbers.
    this.command.textContent = this.walk.command?.(inputs, controls) ?? (changed ? "" : `heed explain --example ${this.walk.id}`);
    shownIn(this.step).forEach((matrix, i) => this.views[i].show(matrix));
    this.point(this.pointed);
  }

  go(step) {
    if (!this.computed[step]) return;
    this.app.setOwn(view, { step });
  }

  keys(event) {
    const to = { ArrowRight: this.at + 1, ArrowDown: this.at + 1, ArrowLeft: this.at - 1, ArrowUp: this.at - 1,
                 Home: 0, End: this.computed.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.go(to);
  }

  edit(input, row, column, value) {
    const inputs = { ...this.edits.inputs, [input]: this.edits.inputs[input].map((values) => [...values]) };
    inputs[input][row][column] = value;
    this.app.setOwn(view, { numbers: writeEdits(this.walk, { ...this.edits, inputs }) });
  }

  // Says how a number came about, and marks what it came from.
  point(pointed) {
    const matrix = pointed && shownIn(this.step).find((one) => one.id === pointed.id && !one.transposed);
    this.how.hidden = !matrix;
    if (!matrix) return;
    this.pointed = pointed;
    const { row, column } = pointed;
    const from = matrix.from?.(row, column);
    for (const drawn of this.views) drawn.mark(from?.marks ?? [], pointed);
    const text = numberStyle(matrix.values)(matrix.values[row][column]);
    const name = `{${matrix.tex}}_{\\text{${matrix.rows[row]}, ${matrix.columns[column]}}}`;
    const value = text.replace("−", "-").replace("∞", "\\infty").replace("nan", "\\text{nan}");
    this.how.replaceChildren(...calculation(from && from.tex !== value ? `${name} = ${from.tex} = ${value}` : `${name} = ${value}`));
  }

  picture() {
    return walkPicture(this.step, this.app.colours);
  }

  table() {
    const rows = this.step.matrices.flatMap((matrix) => matrix.values.flatMap((values, r) =>
      values.map((value, c) => [matrix.name, matrix.rows[r], matrix.columns[c], value])));
    return { columns: ["matrix", "row", "column", "value"], rows };
  }
}

export const view = {
  id: "walk",
  state: { example: "attention", step: 0, numbers: "" },
  of: null,
  controls: [],
  available: () => true,
  mount: (host, app) => new WalkView(host, app),
};
