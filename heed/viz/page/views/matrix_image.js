// A matrix as pictures of one pixel a cell, and half, a quarter ... of that, in which a pixel has the largest of its
// cells: so that a single strong weight among thousands stays seen when everything is shown.
//
//   const image = new MatrixImage(values, rows, columns, end, app.scale.pixels(app.dark));
//   image.draw(context, { x, y, width, height }, matrixWindow);

// The largest of each two by two.
export function halved({ values, rows, columns }) {
  const fewerRows = Math.ceil(rows / 2), fewerColumns = Math.ceil(columns / 2);
  const out = new Float32Array(fewerRows * fewerColumns);
  for (let row = 0; row < rows; ++row) {
    const from = row * columns, to = (row >> 1) * fewerColumns;
    for (let column = 0; column < columns; ++column) {
      const value = values[from + column], at = to + (column >> 1);
      if (value > out[at]) out[at] = value;
    }
  }
  return { values: out, rows: fewerRows, columns: fewerColumns };
}

export class MatrixImage {
  constructor(values, rows, columns, end, pixels) {
    this.end = end;
    this.pixels = pixels;
    this.levels = [{ values, rows, columns }];
    this.canvases = [];
  }

  level(number) {
    while (this.levels.length <= number) this.levels.push(halved(this.levels.at(-1)));
    return this.levels[number];
  }

  canvas(number) {
    if (!this.canvases[number]) {
      const { values, rows, columns } = this.level(number);
      const canvas = document.createElement("canvas");
      canvas.width = columns;
      canvas.height = rows;
      const context = canvas.getContext("2d");
      const image = context.createImageData(columns, rows);
      const out = new Uint32Array(image.data.buffer);
      const scale = 255 / this.end;
      for (let i = 0; i < values.length; ++i) out[i] = this.pixels[Math.min(255, Math.max(0, Math.round(values[i] * scale)))];
      context.putImageData(image, 0, 0);
      this.canvases[number] = canvas;
    }
    return this.canvases[number];
  }

  // density: device pixels of a CSS pixel, so that no level has more than a device pixel a cell.
  draw(context, { x, y, width, height }, window, density = 1) {
    const number = Math.max(0, Math.floor(Math.log2(1 / (window.cell * density)) + 0.999));
    const canvas = this.canvas(number);
    const cells = 2 ** number;
    const wide = Math.min(width, (window.columns - window.left) * window.cell);
    const tall = Math.min(height, (window.rows - window.top) * window.cell);
    context.imageSmoothingEnabled = false;
    context.drawImage(canvas, window.left / cells, window.top / cells, wide / window.cell / cells, tall / window.cell / cells,
      x, y, wide, tall);
  }
}
