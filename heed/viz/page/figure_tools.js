// What one does with the figure that is shown: later changes bring export and notes here.
import { element } from "./dom.js";

export function figureTools() {
  return { node: element("div", { class: "tools" }), note: null, update() {} };
}
