// Which cell of rows and columns a key leads to.
//
//   cellAfter("ArrowDown", { row: 0, column: 2 }, { rows: 3, columns: 4 });   // { row: 1, column: 2 }

const within = (value, count) => Math.min(Math.max(value, 0), count - 1);

// From no cell (at: null) to the first; never off the cells; null for a key that leads nowhere. page: rows of a page.
export function cellAfter(key, at, { rows, columns, page = 1 }) {
  const step = {
    ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], PageDown: [page, 0], PageUp: [-page, 0],
    Home: [0, -columns], End: [0, columns],
  }[key];
  if (!step) return null;
  return at ? { row: within(at.row + step[0], rows), column: within(at.column + step[1], columns) } : { row: 0, column: 0 };
}
