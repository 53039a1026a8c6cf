// Over the picture: the weights of a query laid over the patches of the picture that the model saw.
import { cellReader } from "../cell_reader.js";
import { choice, description } from "../controls.js";
import { decimals, element, svg } from "../dom.js";
import { roundEnd } from "../palette.js";

const kWidest = 560;

export const view = {
  id: "picture",
  state: { query: 0 },
  kinds: ["cross", "encoder"],
  of: "head",
  controls: ["kind", "layer", "head"],
  available: (trace) => trace.image !== null && trace.source.grid !== null && trace.maps.some((map) => map.kind !== "decoder"),
  mount(host, app) {
    const t = (key, values) => app.t(key, values);
    const { image, source } = app.trace();
    // The token of each patch; special tokens have no place in the picture.
    const patches = [...Array(source.grid.rows * source.grid.columns).keys()].map((patch) => source.words.indexOf(patch));
    const { rows, columns } = source.grid;
    let weights, picture;

    const query = () => Math.min(Math.max(app.own(view).query, 0), app.shown().queries.labels.length - 1);
    const weightAt = (patch, reads = query()) => (patches[patch] < 0 ? 0 : weights[reads * source.tokens.length + patches[patch]]);

    const word = choice({
      label: t("picture.word"),
      options: () => app.shown().queries.labels.map((label, i) => [i, label]),
      value: query,
      choose: (number) => app.setOwn(view, { query: Number(number) }),
    });
    const reader = cellReader({ app, hint: t("picture.hint"), say: ({ row, column }) =>
      [t("picture.patch", { row, column, weight: decimals(weightAt(row * columns + column)) })] });
    reader.node.classList.add("over");
    host.append(element("div", { class: "toolbar" }, word.node), reader.node, reader.said);

    // The picture's own sides are known once it is read; until then it is square.
    const sides = { width: 1, height: 1 };
    const read = new Image();
    read.onload = () => {
      Object.assign(sides, { width: read.naturalWidth, height: read.naturalHeight });
      draw();
    };
    read.src = image;

    function draw() {
      const row = patches.map((_, patch) => weightAt(patch));
      const end = roundEnd(row);
      const width = Math.min(kWidest, host.clientWidth), height = (width * sides.height) / sides.width;
      const wide = width / columns, tall = height / rows;
      const place = (patch) => ({ x: (patch % columns) * wide, y: Math.floor(patch / columns) * tall, width: wide, height: tall });
      const cells = row.map((weight, i) => svg("rect", {
        ...place(i), fill: "#000000", "fill-opacity": (0.78 * (1 - Math.min(1, weight / end))).toFixed(3),
        "data-row": Math.floor(i / columns), "data-column": i % columns, "data-weight": weight.toPrecision(4),
      }));
      const best = row.indexOf(Math.max(...row));
      picture = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
        svg("image", { href: image, width, height, preserveAspectRatio: "none" }), cells,
        svg("rect", { ...place(best), fill: "none", stroke: "#ffffff", "stroke-width": 2, "pointer-events": "none" }));
      const label = app.shown().queries.labels[query()];
      reader.show(picture, { rows, columns, label: t("picture.label", { word: `${label}, ${description(app, view.of)}` }) });
    }

    function update() {
      weights = app.shown().weights(app.head());
      word.update();
      draw();
    }

    update();
    return {
      update,
      remove: () => (read.onload = null),
      picture: () => picture,
      table: () => ({
        columns: ["query", "row", "column", "weight"],
        rows: app.shown().queries.labels.flatMap((label, reads) => patches.map((_, patch) =>
          [label, Math.floor(patch / columns), patch % columns, weightAt(patch, reads)])),
      }),
    };
  },
};
