// What stands around a view: the model's name, the tabs, the sentences, the controls, and the sentence of honesty.
import { choice, makers, segments } from "./controls.js";
import { element, scrolledTo } from "./dom.js";
import { figureTools } from "./figure_tools.js";
import { languages } from "./words.js";
import { shortened } from "./tokens.js";

const kLongestTitle = 70;

export class Frame {
  constructor(app) {
    this.app = app;
    this.root = app.host.shadowRoot;
    this.live = element("p", { class: "spoken", role: "status", "aria-live": "polite" });
    this.body = element("div", { class: app.embedded ? "page embedded" : "page" });
    this.root.append(this.body, this.live);
    this.mounted = null;
  }

  announce(text) {
    this.live.textContent = text;
  }

  // Everything anew; the focus stays on the element of the same data-key.
  draw() {
    const focused = this.root.activeElement?.dataset.key;
    this.mounted?.remove?.();
    const { app } = this;
    const { view } = app;
    this.controls = view.controls.map((name) => makers[name](app));
    this.head = this.header();
    this.tools = figureTools(app, () => this.mounted);
    const host = element("div", { class: `view view-${view.id}` });
    const panel = element("div", { class: "figure", id: "panel", role: "tabpanel", "aria-labelledby": `tab-${view.id}` },
      element("div", { class: "caption" },
        element("div", {}, element("h2", {}, app.t(`${view.id}.title`)), element("p", { class: "quiet" }, app.t(`${view.id}.text`))),
        this.tools.node),
      this.controls.length > 0 ? element("div", { class: "toolbar" }, this.controls.map((one) => one.node)) : null,
      this.tools.note,
      host);
    this.body.replaceChildren(this.head, this.landmark("main", { class: "body" }, this.tabs(), panel), this.footer());
    this.mounted = null;
    this.mounted = view.mount(host, app);
    this.tools.update();
    if (focused) this.root.querySelector(`[data-key="${focused}"]`)?.focus();
    const tabs = this.body.querySelector("[role=tablist]");
    scrolledTo(tabs, tabs.querySelector("[aria-selected=true]"));
  }

  update() {
    for (const control of this.controls) control.update();
    this.mounted.update();
    this.tools.update();
  }

  // A landmark of the page; a piece of somebody else's page has none of its own.
  landmark(name, attributes, ...children) {
    return element(this.app.embedded ? "div" : name, { ...attributes, class: `${name} ${attributes.class ?? ""}`.trim() }, ...children);
  }

  header() {
    const { app } = this;
    const trace = app.trace();
    const language = segments({
      label: app.t("page.language"),
      options: () => Object.entries(languages),
      value: () => app.language,
      choose: (one) => app.set({ language: one }),
    });
    for (const button of language.node.children) {
      button.dataset.key = `language-${button.value}`;
      button.lang = button.value === "zh" ? "zh-Hans" : "en";
    }
    const theme = choice({
      label: app.t("page.theme"),
      options: () => ["auto", "light", "dark"].map((one) => [one, app.t(`page.theme.${one}`)]),
      value: () => app.state.theme,
      choose: (one) => app.set({ theme: one }),
    });
    theme.node.querySelector("select").dataset.key = "theme";
    theme.node.classList.add("slim");
    const sentence = choice({
      label: app.t("page.sentence"),
      options: () => app.traces.map((one, i) => [i, `${i + 1}. ${shortened(one.title, kLongestTitle)}`]),
      value: () => app.state.trace,
      choose: (number) => app.set({ trace: Number(number) }),
    });
    sentence.node.querySelector("select").dataset.key = "sentence";
    sentence.node.classList.add("wide");
    const text = (label, side) => (side.text
      ? [element("dt", {}, app.t(label)), element("dd", { dir: "auto" }, side.text)] : []);
    return this.landmark("header", {},
      element("div", { class: "top" },
        element("div", { class: "brand" }, element("h1", {}, app.t("page.title")), element("p", { class: "model" }, trace.model)),
        element("div", { class: "settings" }, language.node, theme.node)),
      sentence.node,
      element("dl", { class: "texts" },
        text("page.source", trace.source),
        text(trace.source.tokens.length > 0 ? "page.target" : "page.text", trace.target)));
  }

  tabs() {
    const { app } = this;
    const there = app.viewsOf(app.trace());
    const choose = (id) => {
      app.set({ view: id });
      this.root.querySelector(`#tab-${id}`).focus();
    };
    const keys = (event) => {
      const at = there.findIndex((view) => view.id === app.state.view);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: there.length - 1 }[event.key];
      if (to === undefined || !there[to]) return;
      event.preventDefault();
      choose(there[to].id);
    };
    return element("div", { class: "tabs", role: "tablist", "aria-label": app.t("page.views"), onkeydown: keys },
      there.map((view) => element("button", {
        type: "button", role: "tab", id: `tab-${view.id}`, "data-key": `tab-${view.id}`, "aria-controls": "panel",
        "aria-selected": String(view.id === app.state.view), tabindex: view.id === app.state.view ? 0 : -1,
        onclick: () => choose(view.id),
      }, app.t(`${view.id}.title`))));
  }

  footer() {
    return this.landmark("footer", {}, element("p", {}, this.app.t("page.honesty")));
  }
}
