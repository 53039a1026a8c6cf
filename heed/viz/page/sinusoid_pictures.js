// The sinusoids as pictures: the table as a heat map, and a curve over positions.
//
//   paintTable(canvas, { length: 50, width: 128, apart: false, colours: signedScale(colours), position: 7 });
//   curve({ values: [..], mark: 7, colours, height: 90, least: -1, most: 1 });

import { svg } from "./dom.js";
import { mixed, partsOf } from "./palette.js";
import { dimensionOrder, sinusoid } from "./positions.js";

// From -1 over 0 to 1: two colours that any eye tells apart, with the ground between them.
export function signedScale({ query, key, panel }) {
  const [low, middle, high] = [query, panel, key].map(partsOf);
  return (x) => (x < 0 ? mixed(middle, low, Math.min(-x, 1)) : mixed(middle, high, Math.min(x, 1)));
}

// A pixel for each number: dimensions to the right, positions down; CSS makes it large.
export function paintNumbers(canvas, rows, columns, at, scale) {
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
  for (let r = 0; r < rows; ++r) {
    for (let c = 0; c < columns; ++c) {
      const [red, green, blue] = scale(at(r, c));
      image.data.set([red, green, blue, 255], 4 * (r * columns + c));
    }
  }
  context.putImageData(image, 0, 0);
}

export function paintTable(canvas, { length, width, apart, scale }) {
  const order = dimensionOrder(width, apart);
  paintNumbers(canvas, length, width, (p, c) => sinusoid(p, order[c], width), scale);
}

// A line over positions, with a mark at one of them.
export function curve({ values, mark, colours, colour, width = 520, height = 80, least, most, label }) {
  const x = (p) => 4 + (values.length > 1 ? p / (values.length - 1) : 0.5) * (width - 8);
  const y = (value) => 4 + (most - value) / (most - least || 1) * (height - 8);
  const points = values.map((value, p) => `${x(p).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return svg("svg", { class: "curve", viewBox: `0 0 ${width} ${height}`, width, height, role: "img" },
    svg("title", {}, label),
    svg("line", { x1: 0, x2: width, y1: y(0), y2: y(0), stroke: colours.edge }),
    svg("line", { x1: x(mark), x2: x(mark), y1: 0, y2: height, stroke: colours.mark, "stroke-dasharray": "3 3" }),
    svg("polyline", { points, fill: "none", stroke: colour, "stroke-width": 1.8, "stroke-linejoin": "round" }),
    svg("circle", { cx: x(mark), cy: y(values[mark]), r: 4, fill: colours.mark }));
}
