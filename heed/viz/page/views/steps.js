// A translation as it grew, token by token: the beam's paths, the candidates in each place, and what was read there.

import { decimals, element, percent, signed } from "../dom.js";
import { barCell, heading } from "../listing.js";
import { searchTree, tokensOf } from "../search_tree.js";
import { labelsOf, specialOf, wordsOf } from "../tokens.js";
import { treePicture } from "../tree_picture.js";

const kPace = 1100;  // milliseconds a step

// Tokens of a path as a reader reads them.
const labelled = (tokens) => labelsOf({ tokens, special: specialOf(tokens), words: wordsOf(tokens), grid: null });
const lastOf = (tokens) => labelled(tokens).at(-1);
// A piece inside a word stands close to what is before it.
const text = (labels) => labels.map((label, i) => (label.startsWith("·") ? label.slice(1) : `${i > 0 ? " " : ""}${label}`)).join("");

class StepsView {
  constructor(host, app) {
    Object.assign(this, { host, app, t: (key, values) => app.t(key, values), timer: null, labels: new Map() });
    const { t } = this;
    this.tree = searchTree(app.trace().steps, app.trace().target.tokens);
    this.last = this.tree.steps.length - 1;
    const button = (key, act) => element("button", { type: "button", class: "button", "data-key": `steps-${key}`, onclick: act }, t(`steps.${key}`));
    this.play = button("play", () => this.toggle());
    this.play.classList.add("first");
    this.slider = element("input", { type: "range", min: 0, max: this.last, "aria-label": t("steps.slider"), "data-key": "steps-slider",
                                     oninput: () => this.go(this.slider.valueAsNumber, true) });
    this.count = element("output", {});
    this.back = button("back", () => this.go(this.at - 1, true));
    this.next = button("next", () => this.go(this.at + 1, true));
    this.written = element("p", { class: "steps-written", dir: "auto" });
    this.read = element("div", { class: "tokens of-key reads", role: "list" });
    this.readTitle = element("h3", {});
    this.candidates = element("tbody");
    this.candidatesTitle = element("caption");
    this.hypotheses = element("tbody");
    this.scroll = element("div", { class: "scroll steps-tree", tabindex: 0, role: "group", "aria-label": t("steps.tree"),
                                   onkeydown: (event) => this.keys(event) });
    host.append(
      element("div", { class: "steps-bar" }, this.play, this.back, this.slider, this.next, this.count),
      this.written,
      element("section", {}, this.readTitle, this.read),
      element("section", {}, element("h3", {}, t("steps.tree")), this.scroll),
      element("div", { class: "steps-tables" },
        element("table", { class: "listing candidates" }, this.candidatesTitle, heading([t("steps.token"), t("steps.probability")]), this.candidates),
        element("div", { class: "scroll" }, element("table", { class: "listing" }, element("caption", {}, t("steps.hypotheses")),
          heading([t("steps.path"), t("steps.log"), t("steps.total")]), this.hypotheses))));
    this.update();
  }

  remove() {
    this.halt();
  }

  get at() {
    const { step } = this.app.own(view);
    // At first, where the answer ends: other paths may go on.
    return step >= 0 && step <= this.last ? step : this.tree.answer.length - 1;
  }

  // Which hypothesis of the step is looked at: the chosen one, or the answer's, or the best.
  get chosen() {
    const { path } = this.app.own(view), count = this.tree.steps[this.at].hypotheses.length;
    return path >= 0 && path < count ? path : (this.tree.answer[this.at] ?? 0);
  }

  go(step, byHand = false) {
    if (step < 0 || step > this.last) return;
    if (byHand) this.halt();
    this.app.setOwn(view, { step, path: -1 });
    if (byHand) this.app.announce(this.said());
  }

  // A hypothesis's token as it reads after those before it.
  label(step, number) {
    const key = `${step} ${number}`;
    if (!this.labels.has(key)) this.labels.set(key, lastOf(tokensOf(this.tree.steps, step, number)));
    return this.labels.get(key);
  }

  said() {
    const { log_probability } = this.tree.steps[this.at].hypotheses[this.chosen];
    return this.t("steps.said", { step: this.at + 1, token: this.label(this.at, this.chosen), probability: percent(Math.exp(log_probability)) });
  }

  toggle() {
    if (this.timer !== null) return this.stop();
    if (this.at === this.last) this.go(0);
    this.timer = setInterval(() => {
      if (this.at >= this.last) this.stop();
      else this.go(this.at + 1);
    }, kPace);
    this.update();
  }

  halt() {
    clearInterval(this.timer);
    this.timer = null;
  }

  stop() {
    this.halt();
    this.update();
  }

  keys(event) {
    const { at, chosen } = this, count = this.tree.steps[at].hypotheses.length;
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.last }[event.key];
    const path = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
    if (event.key === " ") this.toggle();
    else if (steps !== undefined) this.go(steps, true);
    else if (path === undefined) return;
    else if (path >= 0 && path < count) {
      this.app.setOwn(view, { step: at, path });
      this.app.announce(this.said());
    }
    event.preventDefault();
  }

  update() {
    const { at, chosen, t } = this, { steps, answer } = this.tree;
    this.play.textContent = t(this.timer === null ? "steps.play" : "steps.pause");
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", t("steps.count", { step: at + 1, count: this.last + 1 }));
    this.count.textContent = t("steps.count", { step: at + 1, count: this.last + 1 });
    this.back.disabled = at === 0;
    this.next.disabled = at === this.last;
    const tokens = tokensOf(steps, at, chosen), words = labelled(tokens), inside = words.at(-1).startsWith("·");
    this.written.replaceChildren(text(words.slice(0, -1)), inside || at === 0 ? "" : " ",
                                 element("mark", {}, inside ? words.at(-1).slice(1) : words.at(-1)),
                                 element("span", { class: "caret", "aria-hidden": "true" }));
    this.showTree();
    this.showRead(answer[at] === chosen);
    this.showCandidates(tokens.slice(0, -1));
    this.hypotheses.replaceChildren(...steps[at].hypotheses.map(({ log_probability, total }, number) =>
      element("tr", { class: number === chosen ? "chosen" : null, onclick: () => this.app.setOwn(view, { step: at, path: number }) },
        element("th", { scope: "row", dir: "auto" }, text(labelled(tokensOf(steps, at, number))), answer[at] === number ? " ✓" : ""),
        [log_probability, total].map((x) => element("td", {}, signed(x, 2))))));
  }

  showTree() {
    const { at, chosen, app, t } = this;
    const drawn = treePicture(this.tree, {
      step: at, chosen, colours: app.colours, label: ({ step, number }) => this.label(step, number),
      choose: (step, path) => app.setOwn(view, { step, path }),
      words: ({ step, number, probability, total }) =>
        t("steps.node", { token: this.label(step, number), probability: percent(probability), total: signed(total, 2) }),
    });
    this.drawn = drawn.node;
    this.scroll.replaceChildren(drawn.node);
    this.scroll.scrollLeft = drawn.end - this.scroll.clientWidth + 24;
  }

  // What was read when the answer's token was chosen; of other paths the trace has no weights.
  showRead(isAnswer) {
    const { app, at, t } = this, trace = app.trace(), kind = app.kind(), map = app.map(), head = app.head();
    const there = isAnswer && at < map.queries;
    this.read.hidden = !there;
    const names = { head: head === "mean" ? t("map.mean", { heads: map.heads }) : t("map.head-number", { head }), layer: map.name };
    this.readTitle.textContent = there ? t(`steps.read.${kind}`, names) : t("steps.unread");
    if (!there) return;
    const row = (head === "mean" ? map.mean() : map.head(head)).subarray(at * map.keys, (at + 1) * map.keys);
    const labels = trace.side(kind, "keys").labels, most = Math.max(...row, 1e-9);
    this.read.replaceChildren(...labels.map((label, j) => {
      const chip = element("span", { class: "token", role: "listitem", dir: "auto", title: `${label}: ${decimals(row[j])}` },
                           label, element("small", {}, percent(row[j])));
      chip.style.setProperty("--shade", `${Math.round(52 * row[j] / most)}%`);
      return chip;
    }));
  }

  showCandidates(before) {
    const { at, chosen, t } = this;
    const { candidates, token } = this.tree.steps[at].hypotheses[chosen];
    this.candidatesTitle.textContent = before.length > 0 ? t("steps.candidates", { text: text(labelled(before).slice(-4)).trim() }) : t("steps.candidates.first");
    this.candidates.replaceChildren(...candidates.map((candidate) => {
      const taken = candidate.token === token;
      return element("tr", { class: taken ? "chosen" : null },
                     element("th", { scope: "row", dir: "auto" }, lastOf([...before, candidate.token]), taken ? " ✓" : ""),
                     barCell(candidate.probability, decimals(candidate.probability)));
    }));
  }

  picture() {
    return this.drawn;
  }

  table() {
    const { steps } = this.tree;
    return {
      columns: ["step", "hypothesis", "parent", "token", "log probability", "total"],
      rows: steps.flatMap(({ hypotheses }, step) => hypotheses.map(({ parent, token, log_probability, total }, number) =>
        [step, number, parent, token, log_probability, total])),
    };
  }
}

export const view = {
  id: "steps",
  state: { step: -1, path: -1 },
  of: null,
  controls: ["kind", "layer", "head"],
  kinds: ["cross", "decoder"],
  available: (trace) => (trace.steps ?? []).length > 0 && trace.maps.some(({ kind }) => kind !== "encoder"),
  mount: (host, app) => new StepsView(host, app),
};
