// Formulas: a small part of TeX as a tree of MathML, which browsers draw.
//
//   parseMath("w_{ij} = \\frac{e^{s_{ij}}}{\\sum_j e^{s_{ij}}}")
//   // { name: "math", children: [{ name: "msub", children: [...] }, { name: "mo", text: "=" }, ...] }
//
// Letters are variables one by one, digits numbers; \name{...} for text, sqrt, mathbf, frac, sum, and the names below;
// ^ and _ bind the next atom. What it does not know is a mistake in a formula of heed's own: it throws.

const kSymbols = {
  cdot: "⋅", times: "×", le: "≤", ge: "≥", ne: "≠", in: "∈", to: "→", infty: "∞", top: "⊤", ldots: "…",
  odot: "⊙", mid: "∣", approx: "≈",
};
const kLetters = { alpha: "α", omega: "ω", pi: "π", lambda: "λ", tau: "τ", ell: "ℓ", Delta: "Δ", gamma: "γ" };
const kFunctions = new Set(["softmax", "tanh", "exp", "max", "sin", "cos", "ln", "score", "head", "concat", "rowsum"]);

const leaf = (name, text) => ({ name, text });
const node = (name, children) => ({ name, children });
const row = (children) => (children.length === 1 ? children[0] : node("mrow", children));

function tokens(source) {
  return source.match(/\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|[^\s]|\s+/gu) ?? [];
}

class Parser {
  constructor(source) {
    this.source = source;
    this.tokens = tokens(source);
    this.at = 0;
  }
  fail(why) { throw new Error(`formula "${this.source}": ${why}`); }
  skipSpace() { while (/^\s+$/u.test(this.tokens[this.at] ?? "")) ++this.at; }
  peek() { this.skipSpace(); return this.tokens[this.at]; }
  next() { this.skipSpace(); return this.tokens[this.at++]; }

  // Atoms with their scripts, up to `end`, which is taken.
  list(end) {
    const children = [];
    while (this.peek() !== end) {
      if (this.peek() === undefined) this.fail(`${end} is missing`);
      children.push(this.signed(children.at(-1)));
    }
    ++this.at;
    return children;
  }
  // A minus that has nothing before it to take from is a sign and stands close to its number.
  signed(before) {
    const next = this.scripted();
    const sign = next.text === "−" && (before === undefined || (before.name === "mo" && before.text !== ")"));
    // A line of a calculation that begins with its sign keeps the space behind it.
    if (before === undefined && ["+", "=", "→"].includes(next.text)) return { ...next, attributes: { form: "infix" } };
    return sign ? { ...next, attributes: { form: "prefix", lspace: "0", rspace: "0" } } : next;
  }
  group() {
    if (this.peek() !== "{") return this.atom();
    ++this.at;
    return row(this.list("}"));
  }
  // Words as they are, with their spaces.
  words() {
    if (this.next() !== "{") this.fail("{ is missing after \\text");
    let text = "";
    while (this.tokens[this.at] !== "}") {
      if (this.tokens[this.at] === undefined) this.fail("} is missing");
      text += this.tokens[this.at++];
    }
    ++this.at;
    return text.replaceAll(" ", "\u00a0");  // MathML drops other spaces at the ends
  }
  scripted() {
    const base = this.atom();
    let below = null, above = null;
    while (this.peek() === "_" || this.peek() === "^") {
      if (this.next() === "_") below = this.group();
      else above = this.group();
    }
    const limits = base.text === "∑" || base.text === "max";
    if (below && above) return node(limits ? "munderover" : "msubsup", [base, below, above]);
    if (below) return node(limits ? "munder" : "msub", [base, below]);
    return above ? node(limits ? "mover" : "msup", [base, above]) : base;
  }
  atom() {
    const token = this.next();
    if (token === undefined) this.fail("it ends too early");
    if (token === "{") return row(this.list("}"));
    if (token === "}" || token === "_" || token === "^") this.fail(`${token} has nothing before it`);
    if (token.startsWith("\\")) return this.command(token.slice(1));
    if (/^[0-9]/u.test(token)) return leaf("mn", token);
    if (/^\p{L}$/u.test(token)) return leaf("mi", token);
    return leaf("mo", token === "-" ? "−" : token);
  }
  // Not <msqrt>, whose sign browsers take from a font for mathematics, and leave out where there is none.
  root() {
    return node("mrow", [
      { name: "mo", text: "√", attributes: { form: "prefix", stretchy: "false", lspace: "0", rspace: "0" } },
      { name: "mrow", attributes: { class: "radicand" }, children: [this.group()] },
    ]);
  }
  command(name) {
    if (name === "frac") return node("mfrac", [this.group(), this.group()]);
    if (name === "sqrt") return this.root();
    if (name === "text") return leaf("mtext", this.words());
    if (name === "sum") return leaf("mo", "∑");
    if (name === "," || name === "quad") return { name: "mspace", attributes: { width: name === "," ? "0.3em" : "1.5em" } };
    if (name === "{" || name === "}") return leaf("mo", name);
    if (kFunctions.has(name)) return leaf("mi", name);
    if (kLetters[name]) return leaf("mi", kLetters[name]);
    if (kSymbols[name]) return leaf("mo", kSymbols[name]);
    return this.fail(`there is no \\${name}`);
  }
}

// Returns { name, attributes?, text? or children? }, with `math` at the root.
export function parseMath(source) {
  const parser = new Parser(source);
  const children = [];
  while (parser.peek() !== undefined) children.push(parser.signed(children.at(-1)));
  return node("math", children);
}


const kAround = new Set(["=", "+", "−", "×", "⋅", "→", "/", "≈", "∈", "⊙", "≤", "≥", "≠"]);

// A formula in a line of text: "Q K^T / √(d_k)".
export function mathText({ name, text, attributes, children = [] }) {
  const parts = children.map(mathText);
  if (attributes?.form === "prefix") return text;
  if (attributes?.class === "radicand") return children[0].children ? `(${parts[0]})` : parts[0];
  const root = (i) => children[i].children?.[0].text === "√";
  const inside = (i) => (children[i].children?.length > 1 && !root(i) ? `(${parts[i]})` : parts[i]);
  switch (name) {
    case "mspace": return " ";
    case "mfrac": return `${inside(0)} / ${inside(1)}`;
    case "msub": case "munder": return `${parts[0]}_${inside(1)}`;
    case "msup": case "mover": return `${parts[0]}^${inside(1)}`;
    case "msubsup": case "munderover": return `${parts[0]}_${inside(1)}^${inside(2)}`;
    case "mo": return kAround.has(text) ? ` ${text} ` : text;
    default: return (text ?? parts.join("")).replace(/ {2,}/gu, " ");
  }
}
