// Elements in a line, and numbers as text. Text from a trace goes in as text, never as markup; styles are set one
// property at a time, which the page's content policy allows where it forbids style attributes.
//
//   element("button", { class: "chip", onclick: choose }, "Head 3");
//   svg("text", { x: 4, y: 12, "font-size": 13 }, label);

const kSvg = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [property, to] of Object.entries(value)) node.style.setProperty(property, to);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

export const element = (name, attributes = {}, ...children) =>
  filled(document.createElement(name), attributes, children);

export const svg = (name, attributes = {}, ...children) =>
  filled(document.createElementNS(kSvg, name), attributes, children);

// Scrolls a list sideways to one of its elements, and nothing around it, as scrollIntoView would.
export function scrolledTo(list, one) {
  const outer = list.getBoundingClientRect(), inner = one.getBoundingClientRect();
  list.scrollTo({ left: list.scrollLeft + inner.left - outer.left - (list.clientWidth - inner.width) / 2 });
}

export const decimals = (number, digits = 3) => number.toFixed(digits);

// With a minus as long as a plus.
export const signed = (number, digits = 3) => decimals(number, digits).replace("-", "−");

export const percent = (share) => `${Math.round(100 * share)} %`;

// Widths of text in CSS pixels.
export const kFonts =
  'system-ui, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif';
let ruler = null;
export function textWidth(text, size = 13, weight = 400) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = `${weight} ${size}px ${kFonts}`;
  return ruler.measureText(text).width;
}

// The text, cut to what fits into the width.
export function fitted(text, width, size = 13) {
  if (textWidth(text, size) <= width) return text;
  const letters = Array.from(text);
  let low = 0, high = letters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${letters.slice(0, middle).join("")}…`, size) <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("")}…`;
}
