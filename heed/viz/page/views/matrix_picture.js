// The picture of a matrix with its labels, which stay in sight: painted on a canvas, or built as an <svg> to export.
//
//   const layout = layoutOf(window, rowLabels, columnLabels, width, height);
//   paint(context, layout, { app, image, marked });
//   const file = vector(layout, { app, values, end, image });

import { fitted, kFonts, svg, textWidth } from "../dom.js";

const kSize = 13;
const kWidest = 130;  // of a label
const kSlanted = 20;  // narrower cells have upright labels
const kMostRects = 6000;
const kLeastRoom = 160;

const widest = (labels, most) => {
  let width = 0;
  for (const label of labels) width = Math.max(width, label.length > 40 ? most : Math.min(most, textWidth(label, kSize)));
  return width;
};

// Where cells and labels stand in a picture of a width and at most a height.
export function layoutOf(window, rowLabels, columnLabels, width, height) {
  const most = width < 520 ? 84 : kWidest;
  const left = Math.ceil(widest(rowLabels, most)) + 14;
  const wide = Math.ceil(widest(columnLabels, most));
  // The slant's run to the right needs as much room as its rise.
  const rise = Math.ceil(wide * Math.SQRT1_2) + 16;
  // Decided by the whole matrix, also where a part of it is in sight: zooming changes no sizes.
  const wideRoom = (right) => Math.max(40, width - left - right), tallRoom = (top) => Math.max(40, height - top - 2);
  const run = Math.max(2, rise - 10), slanted = window.fitIn(wideRoom(run), tallRoom(rise)) >= kSlanted;
  const top = slanted ? rise : wide + 12, right = slanted ? run : 2;
  const cell = window.fitIn(wideRoom(right), tallRoom(top));
  // A flat or narrow one gets a little more, to have room for cells when it is zoomed.
  const room = (most, count) => Math.ceil(Math.min(most, Math.max(count * cell, Math.min(count * kSlanted, kLeastRoom))));
  const across = room(wideRoom(right), window.columns), tall = room(tallRoom(top), window.rows);
  window.resize(across, tall);
  return { window, rowLabels, columnLabels, left, top, slanted, most, across, tall, width: left + across + right, height: top + tall + 2 };
}

// A row's or a column's label: { text, x, y, turn (degrees), end (whether x is its end), row or column }.
const rowLabel = ({ window, rowLabels, left, top, most }, row, room = most) => ({
  text: fitted(rowLabels[row], room, kSize), x: left - 7, y: top + (row + 0.5 - window.top) * window.cell + 4.5, turn: 0, end: true, row,
});
const columnLabel = ({ window, columnLabels, left, top, slanted, most }, column, room = most) => ({
  text: fitted(columnLabels[column], room, kSize), x: left + (column + 0.5 - window.left) * window.cell + (slanted ? 2 : 4.5), y: top - 6,
  turn: slanted ? -45 : -90, end: false, column,
});

// Whether a row's or a column's middle is in sight, so far from the edges.
const rowIn = ({ window, tall }, row, above = 0, below = 0) => {
  const y = (row + 0.5 - window.top) * window.cell;
  return y > above && y < tall - below;
};
const columnIn = ({ window, across }, column, margin = 0) => {
  const x = (column + 0.5 - window.left) * window.cell;
  return x > margin && x < across - margin;
};

// The labels in sight, as many as there is room for.
function labelsIn(layout) {
  const { window } = layout, every = Math.ceil(15 / window.cell);
  const some = ([first, behind]) => {
    const found = [];
    for (let i = Math.ceil(first / every) * every; i < behind; i += every) found.push(i);
    return found;
  };
  return [
    ...some(window.shownRows).filter((row) => rowIn(layout, row, 5, 3)).map((row) => rowLabel(layout, row)),
    ...some(window.shownColumns).filter((column) => columnIn(layout, column, 3)).map((column) => columnLabel(layout, column)),
  ];
}

const isMarked = (label, marked) =>
  Boolean(marked) && (label.row !== undefined ? label.row === marked.row : label.column === marked.column);

export function paint(context, layout, { app, image, marked, density }) {
  const { window, left, top, across, tall, width, height } = layout;
  const { colours } = app;
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  image.draw(context, { x: left, y: top, width: across, height: tall }, window, density);
  if (window.cell >= 12) {
    context.strokeStyle = colours.faint;
    context.lineWidth = 1;
    context.beginPath();
    const x = (column) => Math.round(left + (column - window.left) * window.cell) + 0.5;
    const y = (row) => Math.round(top + (row - window.top) * window.cell) + 0.5;
    for (let column = window.shownColumns[0] + 1; column < window.shownColumns[1]; ++column) {
      context.moveTo(x(column), top);
      context.lineTo(x(column), top + tall);
    }
    for (let row = window.shownRows[0] + 1; row < window.shownRows[1]; ++row) {
      context.moveTo(left, y(row));
      context.lineTo(left + across, y(row));
    }
    context.stroke();
  }
  context.strokeStyle = colours.edge;
  context.strokeRect(left - 0.5, top - 0.5, across + 1, tall + 1);
  const labels = labelsIn(layout);
  for (const label of labels) {
    if (isMarked(label, marked)) continue;
    write(context, label, colours.ink, 400);
  }
  if (!marked) return;
  const x = left + (marked.column - window.left) * window.cell, y = top + (marked.row - window.top) * window.cell;
  context.save();
  context.beginPath();
  context.rect(left - 1, top - 1, across + 2, tall + 2);
  context.clip();
  context.strokeStyle = colours.mark;
  context.lineWidth = 1;
  context.globalAlpha = 0.55;
  const size = Math.max(window.cell, 3);
  context.strokeRect(left - 2, y, across + 4, size);
  context.strokeRect(x, top - 2, size, tall + 4);
  context.globalAlpha = 1;
  context.lineWidth = 2;
  context.strokeRect(x, y, size, size);
  context.restore();
  // The marked row's and column's own labels, on top of their neighbours.
  for (const label of markedLabels(layout, marked)) {
    const wide = textWidth(label.text, kSize, 700);
    context.save();
    context.translate(label.x, label.y);
    context.rotate((label.turn * Math.PI) / 180);
    context.fillStyle = colours.panel;
    context.fillRect(label.end ? -wide - 3 : -3, -12, wide + 6, 16);
    context.restore();
    write(context, label, colours.mark, 700);
  }
}

// A little narrower, as they are bold.
const markedLabels = (layout, { row, column }) => [
  ...(rowIn(layout, row) ? [rowLabel(layout, row, layout.most - 8)] : []),
  ...(columnIn(layout, column) ? [columnLabel(layout, column, layout.most - 8)] : []),
];

function write(context, { text, x, y, turn, end }, colour, weight) {
  context.save();
  context.translate(x, y);
  if (turn !== 0) context.rotate((turn * Math.PI) / 180);
  context.font = `${weight} ${kSize}px ${kFonts}`;
  context.textAlign = end ? "right" : "left";
  context.direction = "ltr";
  context.fillStyle = colour;
  context.fillText(text, 0, 0);
  context.restore();
}

// The part in sight as a file: a rectangle for each cell, or a picture of the cells where there are too many.
export function vector(layout, { app, values, end, image }) {
  const { window, left, top, across, tall, width, height } = layout;
  const [firstRow, behindRows] = window.shownRows, [firstColumn, behindColumns] = window.shownColumns;
  const cells = svg("g", {});
  if ((behindRows - firstRow) * (behindColumns - firstColumn) <= kMostRects) {
    for (let row = firstRow; row < behindRows; ++row) {
      for (let column = firstColumn; column < behindColumns; ++column) {
        const x = Math.max(0, (column - window.left) * window.cell), y = Math.max(0, (row - window.top) * window.cell);
        const right = Math.min(across, (column + 1 - window.left) * window.cell), below = Math.min(tall, (row + 1 - window.top) * window.cell);
        const value = values[row * window.columns + column];
        cells.append(svg("rect", {
          x: (left + x).toFixed(2), y: (top + y).toFixed(2), width: (right - x).toFixed(2), height: (below - y).toFixed(2),
          fill: app.scale.colour(value / end, app.dark), "data-row": row, "data-column": column, "data-weight": value.toPrecision(4),
        }));
      }
    }
  } else {
    const canvas = document.createElement("canvas");
    canvas.width = across * 2;
    canvas.height = tall * 2;
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    image.draw(context, { x: 0, y: 0, width: across, height: tall }, window, 2);
    cells.append(svg("image", { href: canvas.toDataURL("image/png"), x: left, y: top, width: across, height: tall }));
  }
  const labels = labelsIn(layout).map(({ text, x, y, turn, end: right }) => svg("text", {
    transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})${turn ? ` rotate(${turn})` : ""}`,
    "text-anchor": right ? "end" : "start", fill: app.colours.ink,
  }, text));
  return svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": kFonts, "font-size": kSize },
    cells, svg("rect", { x: left, y: top, width: across, height: tall, fill: "none", stroke: app.colours.edge }), labels);
}
