// A button that opens a small panel; Escape and a press elsewhere close it.
import { element } from "./dom.js";

const kMargin = 8;  // pixels to the window's edge

export function popover(words, children, attributes = {}) {
  const summary = element("summary", { class: "button" }, words);
  const panel = element("div", { class: "panel" }, children);
  const details = element("details", { class: "popover", ...attributes }, summary, panel);
  const leave = (event) => {
    if (!event.composedPath().includes(details)) details.open = false;
  };
  // Into the page where it would stand out of it, on a phone: when it gets a size, which is before it is painted.
  function settle() {
    panel.style.setProperty("translate", "0");
    const { left, right } = panel.getBoundingClientRect();
    const room = document.documentElement.clientWidth - kMargin;
    panel.style.setProperty("translate", `${Math.max(Math.min(0, room - right), kMargin - left)}px`);
  }
  new ResizeObserver(settle).observe(panel);
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
