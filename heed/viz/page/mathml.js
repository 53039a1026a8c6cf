// Formulas as elements, which browsers draw without a library.
//
//   host.append(formula("\\frac{Q K^T}{\\sqrt{d_k}}", { block: true }));
import { mathText, parseMath } from "./math.js";

const kMathMl = "http://www.w3.org/1998/Math/MathML";

function built({ name, text, attributes = {}, children = [] }) {
  const node = document.createElementNS(kMathMl, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  node.append(...children.map(built));
  return node;
}

// Where a line may be broken: before = + and →, outside of braces and parentheses.
function pieces(tex) {
  const parts = [""];
  let depth = 0;
  for (const token of tex.match(/\\[A-Za-z]+|\\.|[^\\]/gu) ?? []) {
    if ("{([".includes(token)) ++depth;
    else if ("})]".includes(token)) --depth;
    if (depth === 0 && parts.at(-1).trim() !== "" && ["=", "+", "\\to"].includes(token)) parts.push("");
    parts[parts.length - 1] += token;
  }
  return parts;
}

// A calculation as formulas side by side, between which a narrow screen breaks the line.
export const calculation = (tex) => pieces(tex).map((part) => formula(part));

export function formula(tex, { block = false } = {}) {
  const tree = parseMath(tex);
  const node = built(tree);
  node.setAttribute("alttext", mathText(tree));
  node.setAttribute("displaystyle", "true");  // fractions as large as the text around them
  if (block) node.setAttribute("display", "block");
  return node;
}
