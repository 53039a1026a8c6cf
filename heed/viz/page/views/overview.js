// All layers and heads: a small picture of each, with its entropy, its mean distance and what it seems to do.
import { layerLabel, segments } from "../controls.js";
import { decimals, element, fitted, kFonts, percent, textWidth } from "../dom.js";
import { kEvenEntropy, kRoleShare, measure } from "../measures.js";
import { roundEnd } from "../palette.js";
import { MatrixImage } from "./matrix_image.js";

const kSide = 64;  // a thumbnail's cells at most; of more, the largest of those that fall together
const kWidestLabel = 200;  // of a layer, in the picture to save

function thumbnail(map, head, pixels) {
  const weights = map.head(head);
  const image = new MatrixImage(weights, map.queries, map.keys, roundEnd(weights), pixels);
  return image.canvas(Math.max(0, Math.ceil(Math.log2(Math.max(map.queries, map.keys) / kSide))));
}

// Each head of each layer of a kind: { map, position, head, entropy, distance, shares, role }.
export function measured(trace, kind) {
  const keys = trace.side(kind, "keys");
  return trace.mapsOf(kind).flatMap((map, position) => [...Array(map.heads).keys()].map((head) => ({
    map, position, head,
    ...measure({
      weights: map.head(head), rows: map.queries, columns: map.keys, labels: keys.labels, special: keys.special,
      self: trace.side(kind, "queries") === keys,
    }),
  })));
}

export const view = {
  id: "overview",
  state: { role: "" },
  of: "kind",
  controls: ["kind"],
  available: (trace) => trace.maps.length > 0,
  mount(host, app) {
    const t = (key, values) => app.t(key, values);
    const readout = element("p", { class: "readout" });
    const grid = element("div", { class: "scroll" });
    let all = [], drawn = "";

    const named = (one) => (one.role ? t(`overview.role.${one.role}`) : t("overview.role.none"));
    const roleFilter = segments({
      label: t("overview.roles"),
      options() {
        const there = [...new Set(all.map((one) => one.role ?? "none"))].sort();
        return [["", t("overview.any")], ...there.map((role) => [role,
          `${t(`overview.role.${role}`)} ${all.filter((one) => (one.role ?? "none") === role).length}`])];
      },
      value: () => app.own(view).role,
      choose: (role) => app.setOwn(view, { role }),
    });
    const how = element("p", { class: "quiet" }, t("overview.how", { share: percent(kRoleShare), even: percent(kEvenEntropy) }));
    host.append(element("div", { class: "toolbar" }, roleFilter.node), readout, grid, how);

    function tell(one) {
      if (!one) return readout.replaceChildren(element("span", { class: "quiet" }, t("overview.hint")));
      const share = one.role && one.shares[one.role] !== undefined ? ` (${percent(one.shares[one.role])})` : "";
      readout.textContent = t("overview.tells", {
        layer: one.map.name, head: one.head, role: `${named(one)}${share}`, entropy: decimals(one.entropy, 2), distance: decimals(one.distance, 1),
      });
    }

    function button(one, pixels) {
      const canvas = thumbnail(one.map, one.head, pixels);
      canvas.setAttribute("aria-hidden", "true");
      const node = element("button", {
        type: "button", class: "head", "data-layer": one.position, "data-head": one.head,
        "aria-label": t("overview.tells", {
          layer: one.map.name, head: one.head, role: named(one), entropy: decimals(one.entropy, 2), distance: decimals(one.distance, 1),
        }),
        onclick: () => app.set({ view: "matrix", layer: one.position, head: String(one.head), layers: "one" }),
        onpointerenter: () => tell(one), onfocus: () => tell(one), onpointerleave: () => tell(null),
      }, canvas, element("span", { class: one.role ? "role" : "role none" }, named(one)),
      element("span", { class: "numbers" }, `${decimals(one.entropy, 1)} · ${decimals(one.distance, 1)}`));
      one.node = node;
      return node;
    }

    function draw() {
      const pixels = app.scale.pixels(app.dark);
      all = measured(app.trace(), app.kind());
      const maps = app.trace().mapsOf(app.kind());
      const most = Math.max(...maps.map((map) => map.heads));
      grid.replaceChildren(element("table", { class: "heads-table" },
        element("thead", {}, element("tr", {}, element("td", {}),
          [...Array(most).keys()].map((head) => element("th", { scope: "col" }, t("map.head-number", { head }))))),
        element("tbody", {}, maps.map((map, position) => element("tr", {},
          element("th", { scope: "row" }, layerLabel(app, map)),
          all.filter((one) => one.position === position).map((one) => element("td", {}, button(one, pixels))))))));
    }

    function update() {
      if (app.kind() !== drawn) {
        drawn = app.kind();
        draw();
        tell(null);
      }
      roleFilter.update();
      const { role } = app.own(view);
      for (const one of all) {
        one.node.classList.toggle("faint", role !== "" && (one.role ?? "none") !== role);
        const chosen = one.map === app.map() && one.head === app.head();
        one.node.setAttribute("aria-current", String(chosen));
      }
    }

    update();
    return {
      update,
      picture() {
        const maps = app.trace().mapsOf(app.kind());
        const most = Math.max(...maps.map((map) => map.heads));
        const labels = maps.map((map) => fitted(layerLabel(app, map), kWidestLabel));
        const side = 84, left = Math.ceil(Math.max(...labels.map((label) => textWidth(label)))) + 14, top = 30;
        const canvas = element("canvas", { width: left + most * side, height: top + maps.length * side });
        const context = canvas.getContext("2d");
        context.fillStyle = app.colours.panel;
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.imageSmoothingEnabled = false;
        context.fillStyle = app.colours.ink;
        context.font = `13px ${kFonts}`;
        for (let head = 0; head < most; ++head) context.fillText(t("map.head-number", { head }), left + head * side + 4, 18);
        labels.forEach((label, i) => context.fillText(label, 6, top + i * side + side / 2));
        for (const one of all) {
          context.drawImage(one.node.querySelector("canvas"), left + one.head * side + 2, top + one.position * side + 2, side - 6, side - 6);
        }
        return canvas;
      },
      table() {
        const shares = [...new Set(all.flatMap((one) => Object.keys(one.shares)))];
        return {
          columns: ["layer", "head", "role", "entropy_bits", "mean_distance", ...shares],
          rows: all.map((one) => [one.map.name, one.head, one.role ?? "", one.entropy, one.distance, ...shares.map((share) => one.shares[share] ?? "")]),
        };
      },
    };
  },
};
