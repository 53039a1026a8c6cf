import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAfter } from "../cell_keys.js";
import { halved } from "../views/matrix_image.js";
import { columnOrder, rowOrder } from "../views/matrix_order.js";
import { MatrixWindow } from "../views/matrix_window.js";
import { randomFrom } from "./random.js";

const weights = Float32Array.from([0.1, 0.9, 0, 0.4, 0.3, 0.3, 0, 0.5, 0.5]);
const labels = ["b", "a", "Ba"];

test("rows and columns are sorted by what is asked, and filtered by their text", () => {
  const rows = (by, only = "") => rowOrder({ weights, columns: 3, labels, by, only });
  const columns = (by, only = "") => columnOrder({ weights, rows: 3, columns: 3, labels, by, only });
  assert.deepEqual(rows("place"), [0, 1, 2]);
  assert.deepEqual(rows("largest"), [0, 2, 1]);
  assert.deepEqual(rows("entropy"), [0, 2, 1]);
  assert.deepEqual(rows("name"), [1, 0, 2]);
  assert.deepEqual(rows("place", "B"), [0, 2]);
  assert.deepEqual(rows("place", "x"), []);
  assert.deepEqual(columns("read"), [1, 2, 0]);
  assert.deepEqual(columns("largest"), [1, 2, 0]);
  for (const none of ["__proto__", "constructor", "x"]) assert.deepEqual([rows(none), columns(none)], [[0, 1, 2], [0, 1, 2]]);
});

test("half of a picture keeps the largest of each two by two", () => {
  assert.deepEqual(halved({ values: weights, rows: 3, columns: 3 }), {
    values: Float32Array.from([0.9, 0.3, 0.5, 0.5]), rows: 2, columns: 2,
  });
});

test("a window shows all at first, keeps the point under the pointer when it zooms, and never leaves the matrix", () => {
  const random = randomFrom(3);
  const window = new MatrixWindow(300, 200);
  window.resize(400, 500);
  assert.equal(window.cell, 500 / 300);
  assert.ok(window.fitted);
  const before = window.at(123, 321);
  window.zoom(8, 123, 321);
  assert.deepEqual(window.at(123, 321), before);
  for (let i = 0; i < 500; ++i) {
    if (random() < 0.5) window.zoom(Math.exp(2 * random() - 1), 400 * random(), 500 * random());
    else window.move(1000 * random() - 500, 1000 * random() - 500);
    assert.ok(window.left >= 0 && window.top >= 0 && window.cell <= 64);
    assert.ok(window.left <= Math.max(0, 200 - 400 / window.cell) + 1e-9);
    assert.ok(window.top <= Math.max(0, 300 - 500 / window.cell) + 1e-9);
    const cell = window.at(399, 499);
    assert.ok(cell === null || (cell.row < 300 && cell.column < 200));
  }
  window.whole();
  assert.ok(window.fitted);
  assert.equal(window.left, 0);
});

test("a window goes where the keyboard goes", () => {
  const window = new MatrixWindow(1000, 1000);
  window.resize(400, 400);
  window.zoom(50);
  window.show({ row: 999, column: 0 });
  const [first, behind] = window.shownRows;
  assert.ok(first <= 999 && behind === 1000);
  assert.equal(window.shownColumns[0], 0);
});

test("keys go from cell to cell and never off them", () => {
  const size = { rows: 3, columns: 4, page: 2 };
  assert.deepEqual(cellAfter("ArrowDown", null, size), { row: 0, column: 0 });
  assert.deepEqual(cellAfter("ArrowRight", { row: 1, column: 3 }, size), { row: 1, column: 3 });
  assert.deepEqual(cellAfter("PageDown", { row: 0, column: 1 }, size), { row: 2, column: 1 });
  assert.deepEqual(cellAfter("Home", { row: 2, column: 3 }, size), { row: 2, column: 0 });
  assert.equal(cellAfter("x", { row: 0, column: 0 }, size), null);
});

test("what is in sight is found again from an address, and harm shows all", () => {
  const window = new MatrixWindow(300, 200), again = new MatrixWindow(300, 200);
  for (const one of [window, again]) one.resize(400, 500);
  assert.equal(window.sight, "");
  window.zoom(8, 123, 321);
  again.see(window.sight);
  assert.ok(Math.abs(again.cell - window.cell) < 0.01 && Math.abs(again.left - window.left) < 0.01 && Math.abs(again.top - window.top) < 0.01);
  for (const harm of ["", "x", "-1,0,5", "0,0,0", "1", "NaN,0,1", "0,0,Infinity"]) {
    again.see(harm);
    assert.ok(again.fitted && again.left === 0, harm);
  }
});
