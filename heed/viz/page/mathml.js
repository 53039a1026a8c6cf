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

export function formula(tex, { block = false } = {}) {
  const tree = parseMath(tex);
  const node = built(tree);
  node.setAttribute("alttext", mathText(tree));
  node.setAttribute("displaystyle", "true");  // fractions as large as the text around them
  if (block) node.setAttribute("display", "block");
  return node;
}
