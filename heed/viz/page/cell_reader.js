// A place for a picture of cells that can be read: by the pointer, and by the arrow keys where it has the focus. What
// is read is said below it, and by the keyboard to a screen reader too.
//
//   const reader = cellReader({ app, hint: "Point at a cell.", say: ({ row, column }) => [`${weight(row, column)}`] });
//   host.append(reader.node, reader.said);
//   reader.show(picture, { rows: 3, columns: 4, label: "Weights" });
//
// The picture is an <svg> whose cells are rectangles with data-row and data-column.

import { cellAfter } from "./cell_keys.js";
import { element, scrolledTo, svg } from "./dom.js";

export function cellReader({ app, hint, say }) {
  const said = element("p", { class: "cell-said" });
  const node = element("div", { class: "scroll cells", tabindex: 0, role: "application" });
  let size = { rows: 0, columns: 0 }, at = null, frame = null;

  function read(cell, aloud = false) {
    at = cell;
    frame.setAttribute("visibility", cell ? "visible" : "hidden");
    said.replaceChildren(...(cell ? say(cell) : [element("span", { class: "quiet" }, hint)]));
    if (!cell) return;
    const shown = node.querySelector(`[data-row="${cell.row}"][data-column="${cell.column}"]`);
    for (const name of ["x", "y", "width", "height"]) frame.setAttribute(name, shown.getAttribute(name));
    if (!aloud) return;
    scrolledTo(node, shown);
    app.announce(said.textContent);
  }

  node.addEventListener("keydown", (event) => {
    const cell = cellAfter(event.key, at, size);
    if (!cell && event.key !== "Escape") return;
    event.preventDefault();
    read(cell, true);
  });
  node.addEventListener("pointermove", (event) => {
    const { row, column } = event.target.dataset;
    read(row === undefined ? null : { row: Number(row), column: Number(column) });
  });
  node.addEventListener("pointerleave", () => read(null));

  return {
    node, said,
    show(picture, { rows, columns, label }) {
      size = { rows, columns };
      node.setAttribute("aria-label", label);
      frame = svg("rect", { class: "cursor", fill: "none", stroke: app.colours.accent, "stroke-width": 3, rx: 2, "pointer-events": "none" });
      picture.append(frame);
      node.replaceChildren(picture);
      read(at && at.row < rows && at.column < columns ? at : null);
    },
  };
}
