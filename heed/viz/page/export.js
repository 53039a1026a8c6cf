// What is shown, as files: a view's picture as SVG or PNG, its numbers as CSV or JSON.
//
//   download("attention.csv", "text/csv", csv({ columns: ["query", "weight"], rows: [["it", 0.62]] }));

import { kFonts, svg, textWidth } from "./dom.js";

const kDensity = 2;  // pixels of a PNG for a CSS pixel
const kMargin = 16;

// RFC 4180: what has a comma, a quote or a line's end stands in quotes.
export function csv({ columns, rows }) {
  const cell = (value) => {
    const text = typeof value === "number" ? String(Number(value.toPrecision(7))) : String(value);
    return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

// { ...about, columns, rows }: about says what the table is of.
export function json({ columns, rows }, about) {
  const rounded = rows.map((row) => row.map((value) => (typeof value === "number" ? Number(value.toPrecision(7)) : value)));
  return `${JSON.stringify({ ...about, columns, rows: rounded }, null, 1)}\n`;
}

// Where a line may end: behind white space, and behind a character of a script without spaces, but not before a mark
// that closes something.
const kLineEnds = /(?<=\s)|(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}，。、；：！？）」』》])(?![，。、；：！？）」』》”’.,;:!?)])/u;

// The text in lines no wider than the width; what has no place to end a line and is wider is broken anywhere.
export function wrapped(text, width, widthOf = textWidth) {
  const lines = [""];
  const pieces = text.split(kLineEnds).flatMap((piece) => (widthOf(piece.trimEnd()) > width ? Array.from(piece) : [piece]));
  for (const piece of pieces) {
    const full = lines.at(-1).endsWith("\n") || widthOf((lines.at(-1) + piece).trimEnd()) > width;
    if (lines.at(-1) !== "" && full) lines.push("");
    lines[lines.length - 1] += piece;
  }
  return lines;
}

// An <svg> on its own: the picture, with its title above and the note below, on the theme's ground.
export function titled(picture, { title, note, colours }) {
  const inner = picture.cloneNode(true);
  for (const name of ["tabindex", "role", "aria-label", "aria-hidden", "class"]) inner.removeAttribute(name);
  const wide = Number(inner.getAttribute("width")), tall = Number(inner.getAttribute("height"));
  const width = Math.max(wide, 320) + 2 * kMargin;
  const lines = wrapped(title, width - 2 * kMargin).map((text) => [text, colours.ink, 600]);
  const notes = note ? wrapped(note, width - 2 * kMargin).map((text) => [text, colours.ink, 400]) : [];
  const top = kMargin + lines.length * 19 + 6, below = top + tall + 22;
  const height = top + tall + kMargin + notes.length * 19;
  inner.setAttribute("x", (width - wide) / 2);
  inner.setAttribute("y", top);
  const line = (start) => ([text, fill, weight], i) => svg("text", { x: kMargin, y: start + 19 * i, fill, "font-weight": weight }, text.trimEnd());
  return svg("svg", {
    xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": kFonts, "font-size": 13,
  }, svg("rect", { width, height, fill: colours.panel }), lines.map(line(kMargin + 12)), inner, notes.map(line(below)));
}

export const svgText = (picture) => new XMLSerializer().serializeToString(picture);

// An <svg> or a <canvas> as an <svg>.
export function asVector(picture) {
  if (picture instanceof SVGElement) return picture;
  const { width, height } = picture;
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, svg("image", { href: picture.toDataURL("image/png"), width, height }));
}

// With fewer pixels where a browser's canvas cannot be as large, which toBlob says with null.
export async function png(picture) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(picture))}`;
  await image.decode();
  for (let density = kDensity; density > kDensity / 64; density /= 2) {
    const canvas = document.createElement("canvas");
    canvas.width = Number(picture.getAttribute("width")) * density;
    canvas.height = Number(picture.getAttribute("height")) * density;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const file = await new Promise((done) => canvas.toBlob(done, "image/png"));
    if (file) return file;
  }
  throw new Error("the picture is too large for a PNG");
}

export function download(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
