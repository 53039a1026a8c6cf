// What a mouse, fingers and keys do to a matrix: point at cells, pin one, zoom and move.
//
//   listen(canvas, { window, layout, change, hover, pin, marked, go });
//
// window(), layout(): the MatrixWindow and where it lies in the picture; change(act): do it and paint; hover(cell or
// null), pin(cell or null); marked(): the cell of the keyboard; go(cell): the keyboard goes there.

import { cellAfter } from "../cell_keys.js";

const kClick = 4;  // pixels that a click may move

export function listen(canvas, { window, layout, change, hover, pin, marked, go }) {
  const fingers = new Map();  // pointers that are down: where each is
  let moved = 0;

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left - layout().left, y: event.clientY - box.top - layout().top };
  };
  const cellOf = ({ x, y }) => window().at(x, y);

  const spread = () => {
    const [a, b] = [...fingers.values()];
    return { distance: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    if (fingers.size === 0) moved = 0;
    fingers.set(event.pointerId, place(event));
    // Wherever it is lifted, this hears of it.
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const to = place(event);
    const from = fingers.get(event.pointerId);
    if (!from) return hover(cellOf(to));
    const before = fingers.size === 2 ? spread() : null;
    fingers.set(event.pointerId, to);
    moved += Math.hypot(to.x - from.x, to.y - from.y);
    if (before) {
      const now = spread();
      change(() => {
        window().zoom(now.distance / Math.max(before.distance, 1), now.x, now.y);
        window().move(before.x - now.x, before.y - now.y);
      });
    } else if (!window().fitted && moved > kClick) {
      change(() => window().move(from.x - to.x, from.y - to.y));
    }
  });
  const lift = (event) => {
    const clicked = fingers.has(event.pointerId) && fingers.size === 1 && moved <= kClick && event.type === "pointerup";
    fingers.delete(event.pointerId);
    if (clicked) pin(cellOf(place(event)));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => fingers.size === 0 && hover(null));

  // A wheel zooms with Ctrl (as a trackpad's pinch says it), or once the picture was clicked or zoomed; else the page
  // scrolls.
  canvas.addEventListener("wheel", (event) => {
    const active = event.ctrlKey || event.metaKey || !window().fitted || canvas.getRootNode().activeElement === canvas;
    if (!active) return;
    event.preventDefault();
    const { x, y } = place(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey) change(() => window().move(event.deltaY * lines, 0));
    else change(() => window().zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0022)), x, y));
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => {
    const { x, y } = place(event);
    change(() => window().zoom(2.5, x, y));
  });

  canvas.addEventListener("keydown", (event) => {
    const view = window();
    const page = Math.max(1, Math.floor(view.height / view.cell) - 1);
    const shift = event.shiftKey && { ArrowDown: [0, 60], ArrowUp: [0, -60], ArrowRight: [60, 0], ArrowLeft: [-60, 0] }[event.key];
    const next = cellAfter(event.key, marked(), { rows: view.rows, columns: view.columns, page });
    if (event.key === "+" || event.key === "=") change(() => view.zoom(1.5));
    else if (event.key === "-") change(() => view.zoom(1 / 1.5));
    else if (event.key === "0") change(() => view.whole());
    else if (event.key === "Escape") {
      hover(null);
      pin(null);
    } else if (event.key === "Enter" || event.key === " ") marked() && pin(marked());
    else if (shift) change(() => view.move(...shift));
    else if (next) go(next);
    else return;
    event.preventDefault();
  });
}
