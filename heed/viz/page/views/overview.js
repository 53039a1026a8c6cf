// All layers and heads: a small picture of each, with its entropy, its mean distance and what it seems to do.
import { segments } from "../controls.js";
import { decimals, element, percent } from "../dom.js";
import { kEvenEntropy, kRoleShare, measure } from "../measures.js";
import { roundEnd } from "../palette.js";
import { halved } from "./matrix_image.js";

const kSide = 64;  // a thumbnail's cells at most

// Cells no more than a thumbnail shows; the largest of those that fall together.
function small(weights, rows, columns) {
  let level = { values: weights, rows, columns };
  while (level.rows > kSide || level.columns > kSide) level = halved(level);
  return level;
}

function paint(canvas, weights, rows, columns, pixels) {
  const level = small(weights, rows, columns);
  const end = roundEnd(level.values);
  canvas.width = level.columns;
  canvas.height = level.rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(level.columns, level.rows);
  const out = new Uint32Array(image.data.buffer);
  level.values.forEach((value, i) => (out[i] = pixels[Math.min(255, Math.max(0, Math.round((value / end) * 255)))]));
  context.putImageData(image, 0, 0);
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
  controls: ["kind"],
  available: (trace) => trace.maps.length > 0,
  mount(host, app) {
    const t = (key, values) => app.t(key, values);
    const readout = element("p", { class: "readout" });
    const grid = element("div", { class: "scroll" });
    let all = [], drawn = "";

    const named = (one) => (one.role ? t(`overview.role.${one.role}`) : t("overview.role.none"));
    const roleFilter = segments(app, {
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
      const canvas = element("canvas", { "aria-hidden": "true" });
      paint(canvas, one.map.head(one.head), one.map.queries, one.map.keys, pixels);
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
          element("th", { scope: "row" }, map.layer === null ? map.path : t("map.layer-number", { layer: map.layer })),
          all.filter((one) => one.position === position).map((one) => element("td", {}, button(one, pixels))))))));
    }

    function update() {
      const wanted = `${app.kind()} ${app.dark}`;
      if (wanted !== drawn) {
        drawn = wanted;
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
        const side = 84, left = 70, top = 30;
        const canvas = element("canvas", { width: left + most * side, height: top + maps.length * side });
        const context = canvas.getContext("2d");
        context.fillStyle = app.colours.panel;
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.imageSmoothingEnabled = false;
        context.fillStyle = app.colours.ink;
        context.font = "13px sans-serif";
        for (let head = 0; head < most; ++head) context.fillText(t("map.head-number", { head }), left + head * side + 4, 18);
        maps.forEach((map, i) => context.fillText(map.layer === null ? String(i) : t("map.layer-number", { layer: map.layer }), 6, top + i * side + side / 2));
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
