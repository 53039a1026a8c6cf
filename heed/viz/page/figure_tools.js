// What one does with the figure that is shown: save it, send its address, pin a note to it.
import { description } from "./controls.js";
import { element } from "./dom.js";
import { asVector, csv, download, json, png, svgText, titled } from "./export.js";
import { popover } from "./popover.js";

const kLongestNote = 500;

// mounted(): the view's handle. node: the buttons; note: the note's place above the figure; update().
export function figureTools(app, mounted) {
  const { view } = app;
  const noteHere = () => (app.state.noted === view.id ? app.state.note : "");
  const title = () => [app.t(`${view.id}.title`), ...(view.of ? [description(app, view.of)] : [])].join(": ");
  const headIn = (map) => (view.of === "head" && map.heads > 1 ? { head: app.head() } : {});
  // "attention-matrix-cross-layer2-head1"
  function name(ending) {
    const parts = ["attention", view.id];
    if (view.of) parts.push(app.kind());
    if (view.of === "layer" || view.of === "head") {
      const { map, options } = app.shown(), { head } = headIn(map), layer = `layer${map.name}`.replace(/[^\w.-]/gu, "_");
      parts.push({ one: layer, mean: "all-layers" }[options.layers] ?? `${options.layers}-to-${layer}`);
      if (head !== undefined) parts.push(head === "mean" ? "mean" : `head${head}`);
    }
    return `${parts.join("-")}.${ending}`;
  }
  const picture = () => titled(asVector(mounted().picture()), { title: title(), note: noteHere(), colours: app.colours });
  const about = () => ({
    model: app.trace().model, view: view.id, ...(view.of ? { kind: app.kind() } : {}),
    ...(view.of === "layer" || view.of === "head" ? { path: app.map().path, layers: app.shown().options.layers, ...headIn(app.map()) } : {}),
    source: app.trace().source.text, target: app.trace().target.text, ...(noteHere() ? { note: noteHere() } : {}),
  });
  const makers = {
    svg: () => download(name("svg"), "image/svg+xml", svgText(picture())),
    png: async () => download(name("png"), "image/png", await png(picture())),
    csv: () => download(name("csv"), "text/csv", csv(mounted().table())),
    json: () => download(name("json"), "application/json", json(mounted().table(), about())),
  };

  const button = (key, words, act) => element("button", { type: "button", class: "button", "data-key": key, onclick: act }, words);
  const files = Object.keys(makers).map((kind) => button(`save-${kind}`, kind.toUpperCase(), () => makers[kind]()));
  const copy = button("copy-address", app.t("tools.address"), async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      app.announce(app.t("tools.address.copied"));
      copy.textContent = app.t("tools.address.copied");
    } catch {
      copy.textContent = app.t("tools.address.by-hand");
    }
  });
  copy.hidden = app.embedded;
  const save = popover([app.t("tools.save")], [
    element("div", { class: "files" }, files), element("p", { class: "quiet" }, app.t("tools.save.text")), copy,
  ], { class: "popover tail" });

  const field = element("textarea", {
    rows: 2, maxlength: kLongestNote, "aria-label": app.t("tools.note"), placeholder: app.t("tools.note.hint"), dir: "auto",
    oninput: () => app.set({ note: field.value, noted: field.value ? view.id : "" }),
  });
  const remove = element("button", {
    type: "button", class: "plain",
    onclick() {
      open = false;
      app.set({ note: "", noted: "" });
    },
  }, app.t("tools.note.remove"));
  const note = element("div", { class: "note" }, field, remove);
  let open = false;
  const pin = button("note", app.t("tools.note"), () => {
    open = true;
    update();
    field.focus();
  });

  function update() {
    const text = noteHere();
    note.hidden = !open && text === "";
    pin.hidden = !note.hidden;
    if (field.value !== text) field.value = text;
    const handle = mounted();
    files.forEach((file) => (file.hidden = Boolean(handle) && !handle[["SVG", "PNG"].includes(file.textContent) ? "picture" : "table"]));
    save.hidden = copy.hidden && files.every((file) => file.hidden);
    copy.textContent = app.t("tools.address");
  }
  update();
  return { node: element("div", { class: "tools" }, pin, save), note, update };
}
