// The scale of weights as a bar, from 0 to the end of the colours.
import { element } from "./dom.js";

export function legend(app) {
  const bar = element("canvas", { width: 256, height: 1, class: "bar" });
  const most = element("span", {});
  const node = element("div", { class: "legend", "aria-hidden": "true" }, element("span", {}, "0"), bar, most);
  const context = bar.getContext("2d");
  for (let i = 0; i < 256; ++i) {
    context.fillStyle = app.scale.colour(i / 255, app.dark);
    context.fillRect(i, 0, 1, 1);
  }
  return {
    node,
    update(end) {
      most.textContent = String(Number(end.toPrecision(3)));
    },
  };
}
