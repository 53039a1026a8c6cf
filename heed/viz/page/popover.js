// A button that opens a small panel; Escape and a press elsewhere close it.
import { element } from "./dom.js";

export function popover(words, children, attributes = {}) {
  const summary = element("summary", { class: "button" }, words);
  const details = element("details", { class: "popover", ...attributes }, summary, element("div", { class: "panel" }, children));
  const leave = (event) => {
    if (!event.composedPath().includes(details)) details.open = false;
  };
  details.addEventListener("toggle", () => {
    if (details.open) document.addEventListener("pointerdown", leave);
    else document.removeEventListener("pointerdown", leave);
  });
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    details.open = false;
    summary.focus();
    event.stopPropagation();
  });
  return details;
}
