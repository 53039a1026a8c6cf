// Over the picture: the weights of a query laid over the patches of the picture that the model saw.
import { combine } from "../combine.js";
import { choice, description } from "../controls.js";
import { decimals, element, svg } from "../dom.js";
import { roundEnd } from "../palette.js";

const kWidest = 560;

export const view = {
  id: "picture",
  state: { query: 0 },
  kinds: ["cross", "encoder"],
  controls: ["kind", "layer", "head"],
  available: (trace) => trace.image !== null && trace.source.grid !== null && trace.maps.some((map) => map.kind !== "decoder"),
  mount(host, app) {
    const t = (key, values) => app.t(key, values);
    const { image, source } = app.trace();
    // The token of each patch; special tokens have no place in the picture.
    const patches = [...Array(source.grid.rows * source.grid.columns).keys()].map((patch) => source.words.indexOf(patch));
    // As they are: a patch is no piece of a word.
    const combined = () => combine(app.trace(), app.kind(), app.state.layer);
    let shown, weights, picture;

    const word = choice(app, {
      label: t("picture.word"),
      options: () => combined().queries.labels.map((label, i) => [i, label]),
      value: () => app.own(view).query,
      choose: (query) => app.setOwn(view, { query: Number(query) }),
    });
    const readout = element("p", { class: "readout" });
    const place = element("div", { class: "over" });
    host.append(element("div", { class: "toolbar" }, word.node), readout, place);

    // The picture's own sides are known once it is read; until then it is square.
    const sides = { width: 1, height: 1 };
    const reader = new Image();
    reader.onload = () => {
      Object.assign(sides, { width: reader.naturalWidth, height: reader.naturalHeight });
      draw();
    };
    reader.src = image;

    function draw() {
      const { rows, columns } = source.grid;
      const query = Math.min(app.own(view).query, shown.queries.labels.length - 1);
      const row = patches.map((token) => (token < 0 ? 0 : weights[query * source.tokens.length + token]));
      const end = roundEnd(row);
      const width = Math.min(kWidest, host.clientWidth), height = (width * sides.height) / sides.width;
      const wide = width / columns, tall = height / rows;
      const cells = row.map((weight, i) => svg("rect", {
        x: (i % columns) * wide, y: Math.floor(i / columns) * tall, width: wide, height: tall,
        fill: "#000000", "fill-opacity": (0.78 * (1 - Math.min(1, weight / end))).toFixed(3), "data-patch": i, "data-weight": weight.toPrecision(4),
        onpointerenter: () => (readout.textContent = t("picture.patch", { row: Math.floor(i / columns), column: i % columns, weight: decimals(weight) })),
      }));
      const best = row.indexOf(Math.max(...row));
      picture = svg("svg", {
        xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
        "aria-label": t("picture.label", { word: `${shown.queries.labels[query]}, ${description(app, app.head())}` }),
      }, svg("image", { href: image, width, height, preserveAspectRatio: "none" }), cells,
      svg("rect", { x: (best % columns) * wide, y: Math.floor(best / columns) * tall, width: wide, height: tall, fill: "none", stroke: "#ffffff", "stroke-width": 2 }));
      place.replaceChildren(picture);
    }

    function update() {
      shown = combined();
      weights = shown.weights(app.head());
      word.update();
      readout.replaceChildren(element("span", { class: "quiet" }, t("picture.hint")));
      draw();
    }

    update();
    return {
      update,
      remove: () => (reader.onload = null),
      picture: () => picture,
      table: () => ({
        columns: ["query", "row", "column", "weight"],
        rows: shown.queries.labels.flatMap((label, query) => patches.map((token, i) =>
          [label, Math.floor(i / source.grid.columns), i % source.grid.columns, token < 0 ? 0 : weights[query * source.tokens.length + token]])),
      }),
    };
  },
};
