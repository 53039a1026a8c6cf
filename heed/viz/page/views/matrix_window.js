// Which part of a matrix a picture shows: zoomed and moved, never off the matrix.
//
//   const window = new MatrixWindow(rows, columns);
//   window.resize(width, height);            // of the cells' part of the picture
//   window.zoom(2, x, y);                    // about a point of it
//   window.at(x, y);                         // { row, column }, or null beside the matrix

const kLargestCell = 64;
const kFittedCell = 40;  // a small matrix does not fill the screen

const within = (value, least, most) => Math.min(Math.max(value, least), most);

export class MatrixWindow {
  constructor(rows, columns) {
    Object.assign(this, { rows, columns, width: 1, height: 1, left: 0, top: 0, cell: 1, fitted: true });
  }

  // Pixels of a cell where all is in sight, of this window and of one of another size.
  get fit() {
    return this.fitIn(this.width, this.height);
  }

  fitIn(width, height) {
    return Math.min(width / this.columns, height / this.rows, kFittedCell);
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    this.settle(this.fitted ? this.fit : this.cell, this.left, this.top);
  }

  // cell: pixels of a cell; left and top: the matrix's column and row at the picture's corner, parts of one included.
  settle(cell, left, top) {
    this.cell = within(cell, Math.min(this.fit, kLargestCell), kLargestCell);
    this.fitted = this.cell <= this.fit * 1.0001;
    this.left = within(left, 0, Math.max(0, this.columns - this.width / this.cell));
    this.top = within(top, 0, Math.max(0, this.rows - this.height / this.cell));
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const column = this.left + x / this.cell, row = this.top + y / this.cell;
    const cell = within(this.cell * factor, Math.min(this.fit, kLargestCell), kLargestCell);
    this.settle(cell, column - x / cell, row - y / cell);
  }

  // By pixels.
  move(x, y) {
    this.settle(this.cell, this.left + x / this.cell, this.top + y / this.cell);
  }

  show({ row, column }) {
    const wide = this.width / this.cell, tall = this.height / this.cell;
    const left = within(this.left, column + 1 - wide, column), top = within(this.top, row + 1 - tall, row);
    this.settle(this.cell, left, top);
  }

  whole() {
    this.settle(this.fit, 0, 0);
  }

  // What is in sight, for an address: the column and the row at the corner and how many columns; "" where all is.
  get sight() {
    return this.fitted ? "" : [this.left, this.top, this.width / this.cell].map((x) => Number(x.toFixed(2))).join();
  }

  see(sight) {
    const [left, top, across] = sight.split(",").map(Number);
    if (left >= 0 && top >= 0 && across > 0) this.settle(this.width / across, left, top);
    else this.whole();
  }

  at(x, y) {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return null;
    const row = Math.floor(this.top + y / this.cell), column = Math.floor(this.left + x / this.cell);
    return row < this.rows && column < this.columns ? { row, column } : null;
  }

  // The rows and columns of which at least a part is shown: [first, behind the last].
  get shownRows() {
    return [Math.floor(this.top), Math.min(this.rows, Math.ceil(this.top + this.height / this.cell))];
  }

  get shownColumns() {
    return [Math.floor(this.left), Math.min(this.columns, Math.ceil(this.left + this.width / this.cell))];
  }
}
