// A matrix as a table whose numbers can be pointed at, or changed where they are given.
//
//   const view = new MatrixView(matrix, {
//     t: app.t, edit(input, row, column, value) {}, point(matrix, row, column) {},
//   });
//   host.append(view.node);
//   view.show(matrix);                                // other numbers, of the same labels
//   view.mark([{ id: "Q", row: 0 }], pointed);        // what the pointed number comes from
//
// A matrix of more than 16 rows or columns is cut: its first eight, and the last. Computed numbers are one stop of the
// Tab key; the arrow keys go from one to the next. Each is announced with its row and column. Matrices are
// walks/matrices.js's.

import { element } from "./dom.js";
import { formula } from "./mathml.js";
import { notation } from "./notation.js";
import { numberStyle } from "./walks/matrices.js";

export const kStrongest = 0.46;  // of the role's colour behind the largest number: the text stays readable

// How strongly a number is shaded, from 0 to 1: weights by themselves, others beside the largest of their matrix.
export function shadesOf(matrix) {
  if (matrix.shade === "none") return () => 0;
  const most = matrix.shade === "weights" ? 1
    : Math.max(...matrix.values.flat().filter(Number.isFinite).map(Math.abs), Number.MIN_VALUE);
  return (x) => (Number.isFinite(x) ? Math.min(Math.abs(x) / most, 1) : 0);
}

const kMostShown = 16, kFirst = 8;
const kCut = -1;

// Which of `count` rows or columns are shown.
export const shownOf = (count) => (count <= kMostShown ? Array.from({ length: count }, (_, i) => i)
  : [...Array.from({ length: kFirst }, (_, i) => i), kCut, count - 1]);

export class MatrixView {
  constructor(matrix, { t, edit, point }) {
    Object.assign(this, { t, edit, point, matrix });
    const rows = shownOf(matrix.rows.length), columns = shownOf(matrix.columns.length);
    this.cells = [];  // of rows of { td, input?, r, c }
    const body = rows.map((r) => {
      const cells = columns.map((c) => (r === kCut || c === kCut ? null : this.cell(matrix, r, c)));
      if (r !== kCut) this.cells.push(cells.filter(Boolean));
      return element("tr", {}, element("th", { scope: "row" }, r === kCut ? "⋮" : notation(matrix.rows[r])),
                     cells.map((cell) => cell?.td ?? element("td", { class: "cut", "aria-label": t("walk.cut") }, r === kCut ? "⋮" : "…")));
    });
    const title = t("walk.matrix", { name: matrix.name, rows: matrix.rows.length, columns: matrix.columns.length });
    const classes = ["matrix", matrix.role && `of-${matrix.role}`, columns.length > 6 && "wide", matrix.pattern && "pattern"];
    this.node = element("table", { class: classes.filter(Boolean).join(" ") },
      element("caption", {},
        element("span", { class: "spoken" }, matrix.transposed ? t("walk.transposed", { matrix: title }) : title),
        element("span", { "aria-hidden": "true" }, formula(matrix.tex))),
      element("thead", {}, element("tr", {}, element("td"),
        columns.map((c) => (c === kCut ? element("td", {}, "…") : element("th", { scope: "col" }, notation(matrix.columns[c])))))),
      element("tbody", {}, body));
    if (matrix.from) {
      this.stop = this.cells[0][0].td;
      this.stop.tabIndex = 0;
      this.node.addEventListener("keydown", (event) => this.move(event));
    }
    this.show(matrix);
  }

  // The number's place in the matrix that this one may be a transposed picture of.
  place(r, c) {
    return this.matrix.transposed ? [c, r] : [r, c];
  }

  // The number's place among those that are given.
  given(r, c) {
    return this.matrix.place?.(...this.place(r, c)) ?? this.place(r, c);
  }

  cell(matrix, r, c) {
    const td = element("td");
    const point = () => this.point(this.matrix, ...this.place(r, c));
    td.addEventListener("pointerenter", point);
    if (matrix.input === undefined) {
      if (matrix.from) {
        td.tabIndex = -1;
        td.addEventListener("focus", () => {
          this.stop.tabIndex = -1;
          this.stop = td;
          td.tabIndex = 0;
          point();
        });
        td.addEventListener("pointerdown", () => td.focus());
      }
      return { td, r, c };
    }
    const input = this.number(r, c);
    input.setAttribute("aria-label", `${matrix.name} ${matrix.rows[r]}, ${matrix.columns[c]}`);
    input.addEventListener("focus", point);
    td.append(input);
    return { td, input, r, c };
  }

  number(r, c) {
    const input = element("input", { type: "number", step: "any", autocomplete: "off" });
    input.addEventListener("input", () => {
      const value = input.valueAsNumber;
      input.toggleAttribute("aria-invalid", !Number.isFinite(value));
      if (Number.isFinite(value)) this.edit(this.matrix.input, ...this.given(r, c), value);
    });
    // What was left unfinished is as it was.
    input.addEventListener("change", () => {
      if (Number.isFinite(input.valueAsNumber)) return;
      input.removeAttribute("aria-invalid");
      input.value = String(this.matrix.values[r][c]);
    });
    return input;
  }

  show(matrix) {
    this.matrix = matrix;
    const text = numberStyle(matrix.values), shade = shadesOf(matrix);
    for (const { td, input, r, c } of this.cells.flat()) {
      const value = matrix.values[r][c];
      td.style.setProperty("--shade", `${Math.round(100 * kStrongest * shade(value))}%`);
      td.classList.toggle("negative", value < 0);
      td.classList.toggle("refused", value === -Infinity);
      if (!input) td.textContent = matrix.pattern && value === 0 ? "·" : text(value);
      else if (input.valueAsNumber !== value && !this.typing(input)) input.value = String(Number(value.toPrecision(10)));
    }
  }

  typing(input) {
    return input.getRootNode().activeElement === input;
  }

  // marks: [{ id, row?, column? }]: every number of that matrix, row and column. pointed: { id, row, column }.
  mark(marks, pointed) {
    const { id } = this.matrix;
    for (const cell of this.cells.flat()) {
      const [r, c] = this.place(cell.r, cell.c);
      const is = (mark) => mark.id === id && (mark.row ?? r) === r && (mark.column ?? c) === c;
      cell.td.classList.toggle("source", marks.some(is));
      cell.td.classList.toggle("pointed", is(pointed));
    }
  }

  move(event) {
    const r = this.cells.findIndex((row) => row.some(({ td }) => td === event.target));
    if (r < 0) return;
    const c = this.cells[r].findIndex(({ td }) => td === event.target);
    const to = { ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1],
                 Home: [r, 0], End: [r, this.cells[r].length - 1] }[event.key];
    const cell = to && this.cells[to[0]]?.[to[1]];
    if (!cell) return;
    event.preventDefault();
    event.stopPropagation();
    cell.td.focus();
  }
}
