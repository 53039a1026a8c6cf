// The page: a frame around views, one of which is shown.
//
//   mountApp(host, { palette, language, embedded, opens: "view=walk", file: { traces: [...] } });
//
// A view is a module views/NAME.js:
//
//   export const view = {
//     id: "matrix",                     // in the address; its words in words.js begin with it: "matrix.title"
//     state: { pin: "", row: 1 },       // what of it the address keeps, as "matrix.pin": defaults of type string,
//                                       // number or boolean, which are also the types of the values
//     fractions: ["least"],             // optional: which of these numbers need not be whole
//     of: "head",                       // what its figure is of: "head" (of a layer), "layer", "kind", or null where
//                                       // it shows no weights; names and titles of files follow
//     oneHead: true,                    // optional: a mean of heads is nothing to it
//     kinds: ["cross"],                 // optional: the kinds of attention that it can show
//     controls: ["kind", "layer", "head", "combine"],   // which of the frame's controls stand above it; none: []
//     available(trace) { return true; },
//     mount(host, app) {                // draws into host, an empty element; again for another trace, language, theme
//       return {
//         update() {},                  // the state has changed (any part of it)
//         remove() {},                  // optional: what was added outside of host goes
//         picture() {},                 // optional, null while there is none: an <svg> or <canvas> to export
//         table() {},                   // optional: { columns: [names], rows: [[values]] } to export
//       };
//     },
//   };
//
// and is listed in views/all.js. What it gets:
//
//   app.traces      all traces (trace.js)              app.trace()   the one that is shown
//   app.state       the whole state; a view's own is app.own(view) and is changed by app.setOwn(view, { pin: "3" })
//   app.set(changes)                                   changes the state, writes the address, updates what is shown
//   app.kind(), app.map(), app.head()                  the kind, the map and the head ("mean" or a number) that are
//                                                      chosen; app.kinds(): those to choose from
//   app.shown(trace)                                   what is to be shown of the chosen layer (combine.js); in a view
//                                                      without the control "combine" the layer as it is
//   app.t(key, values)                                 words in the chosen language; app.language: "en" or "zh"
//   app.announce(text)                                 says it to a screen reader
//   app.dark, app.colours                              the theme: palette.js's themes[...]; --ink ... in page.css
//   app.scale.colour(t, app.dark)                      the scale of weights
//
// Everything lies in a shadow root: styles of a notebook and of the page do not meet, and several pages may stand in
// one document. Look elements up from host, never from document; ids must begin with the view's.

import { format, parse } from "./address.js";
import { combine, defaults as combineDefaults, fractions as combineFractions } from "./combine.js";
import { Frame } from "./frame.js";
import { Scale, themes } from "./palette.js";
import { Trace } from "./trace.js";
import { languages, translate } from "./words.js";
import { views } from "./views/all.js";

const kFrameState = {
  view: "", trace: 0, kind: "", layer: -1, head: "mean", language: "", theme: "auto", note: "", noted: "",
  ...combineDefaults,
};

const kFractions = [...combineFractions, ...views.flatMap(({ id, fractions = [] }) => fractions.map((key) => `${id}.${key}`))];

// Longer texts open as a matrix: as many words and their lines are no picture.
const kMostWords = 300;

// A change of one of these draws the view from its beginning.
const kRemounts = ["view", "trace", "language", "theme"];

const darkness = window.matchMedia("(prefers-color-scheme: dark)");

class App {
  constructor(host, data) {
    this.host = host;
    this.embedded = Boolean(data.embedded);
    // Without any trace there are the views that need none.
    this.traces = (data.file.traces.length > 0 ? data.file.traces : [{ maps: [] }]).map((trace) => new Trace(trace));
    this.scale = new Scale(data.palette);
    const longest = Math.max(...this.traces.flatMap((trace) => trace.maps.map((map) => Math.max(map.queries, map.keys))), 0);
    this.defaults = { ...kFrameState, view: longest > kMostWords ? "matrix" : "heads", language: Object.hasOwn(languages, data.language) ? data.language : "en" };
    for (const view of views) {
      for (const [key, value] of Object.entries(view.state)) this.defaults[`${view.id}.${key}`] = value;
    }
    this.defaults = this.read(data.opens ?? "");
    this.state = this.valid(this.embedded ? this.defaults : this.read(location.hash));
    this.shownOnes = new Map();
    this.frame = new Frame(this);
    this.printing = false;
    darkness.addEventListener("change", () => this.state.theme === "auto" && this.draw());
    window.addEventListener("beforeprint", () => this.print(true));
    window.addEventListener("afterprint", () => this.print(false));
    if (!this.embedded) {
      window.addEventListener("hashchange", () => {
        if (location.hash.slice(1) === format(this.state, this.defaults)) return;
        this.state = this.valid(this.read(location.hash));
        this.draw();
      });
    }
    this.draw();
  }

  read(address) {
    return parse(address, this.defaults, kFractions);
  }

  // A state of this page, whatever an address says.
  valid(state) {
    const trace = state.trace >= 0 && state.trace < this.traces.length ? state.trace : 0;
    const there = this.viewsOf(this.traces[trace]);
    const view = there.some((one) => one.id === state.view) ? state.view : there[0].id;
    const language = Object.hasOwn(languages, state.language) ? state.language : this.defaults.language;
    const theme = ["auto", "light", "dark"].includes(state.theme) ? state.theme : "auto";
    return { ...state, trace, view, language, theme };
  }

  viewsOf(trace) {
    return views.filter((view) => view.available(trace));
  }

  get view() {
    return views.find((view) => view.id === this.state.view);
  }

  get language() {
    return this.state.language;
  }

  get dark() {
    if (this.printing) return false;
    return this.state.theme === "auto" ? darkness.matches : this.state.theme === "dark";
  }

  get colours() {
    return themes[this.dark ? "dark" : "light"];
  }

  t(key, values) {
    return translate(key, this.language, values);
  }

  trace() {
    return this.traces[this.state.trace];
  }

  // The kinds of attention that the view shows.
  kinds(trace = this.trace()) {
    const { kinds = trace.kinds } = this.view;
    return trace.kinds.filter((kind) => kinds.includes(kind));
  }

  kind(trace = this.trace()) {
    const there = this.kinds(trace);
    return there.includes(this.state.kind) ? this.state.kind : there[0];
  }

  map(trace = this.trace()) {
    return trace.map(this.kind(trace), this.state.layer);
  }

  head(map = this.map()) {
    const head = Number(this.state.head);
    const there = this.state.head !== "mean" && Number.isInteger(head) && head >= 0 && head < map.heads;
    return there ? head : this.view.oneHead ? 0 : "mean";
  }

  shown(trace = this.trace()) {
    const from = this.view.controls.includes("combine") ? this.state : combineDefaults;
    const options = Object.fromEntries(Object.keys(combineDefaults).map((key) => [key, from[key]]));
    const key = JSON.stringify([this.traces.indexOf(trace), this.kind(trace), this.state.layer, options]);
    if (!this.shownOnes.has(key)) {
      if (this.shownOnes.size >= 4) this.shownOnes.delete(this.shownOnes.keys().next().value);
      this.shownOnes.set(key, combine(trace, this.kind(trace), this.state.layer, options));
    }
    return this.shownOnes.get(key);
  }

  own(view) {
    return Object.fromEntries(Object.keys(view.state).map((key) => [key, this.state[`${view.id}.${key}`]]));
  }

  setOwn(view, changes) {
    this.set(Object.fromEntries(Object.entries(changes).map(([key, value]) => [`${view.id}.${key}`, value])));
  }

  set(changes) {
    const before = this.state;
    this.state = this.valid({ ...before, ...changes });
    if (!this.embedded) history.replaceState(null, "", `#${format(this.state, this.defaults)}`);
    if (kRemounts.some((key) => before[key] !== this.state[key])) this.draw();
    else this.update();
  }

  announce(text) {
    this.frame.announce(text);
  }

  print(printing) {
    this.printing = printing;
    this.draw();
  }

  draw() {
    for (const [name, colour] of Object.entries(this.colours)) this.host.style.setProperty(`--${name}`, colour);
    this.host.style.setProperty("color-scheme", this.dark ? "dark" : "light");
    if (!this.embedded) {
      document.body.style.margin = "0";
      document.documentElement.style.background = this.colours.paper;
      document.documentElement.lang = this.language === "zh" ? "zh-Hans" : "en";
    }
    this.host.lang = this.language === "zh" ? "zh-Hans" : "en";
    this.frame.draw();
  }

  update() {
    this.frame.update();
  }
}

export const mountApp = (host, data) => new App(host, data);
