// The matrices of a walk: numbers with names for their rows and columns, and for each computed one how it came about.
//
//   const q = given("Q", ["q1"], numbered("d", 3), [[1, 0, 1]]);
//   const scores = products("scores", q, k);         // Q K^T
//   scores.values[0][1];                             // 2
//   scores.from(0, 1);   // { tex: "1 \\times 0 + ...", marks: [{ id: "Q", row: 0 }, { id: "K", row: 1 }] }
//
// A matrix is { id, name, tex, rows, columns: labels, values: rows of numbers, from(row, column) }. `id` is its own
// within a step, its name but for heads and tiles; `tex` is its name as a formula has it. Where its numbers are given
// it has `input`, the key of what the reader may change, and may have place(row, column), which of its numbers one is.
// `role` (query, key, value), `shade` (weights: as shares of 1) and `pattern` (of ones and zeros) say how it is drawn.

import { dot, logSumExp, product, productTransposed, softmax, transpose } from "../attention.js";

export const numbered = (prefix, count, first = 1) => Array.from({ length: count }, (_, i) => `${prefix}${first + i}`);

export const kDigits = 3;
const kWholeBelow = 1e7;  // larger numbers are written with an exponent

// How `heed explain` writes the numbers of one matrix: without decimals where all are whole.
export function numberStyle(values, digits = kDigits) {
  const finite = values.flat().filter(Number.isFinite);
  const exponent = finite.some((x) => Math.abs(x) >= kWholeBelow);
  const whole = finite.every((x) => x === Math.floor(x));
  return (x) => {
    if (Number.isNaN(x)) return "nan";
    if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
    const text = exponent ? x.toExponential(digits) : x.toFixed(whole ? 0 : digits);
    return (/^-[0.]*$/u.test(text) ? text.slice(1) : text).replace("-", "−");
  };
}

// A number within a calculation: as short as three decimals allow.
export function plain(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "\\text{nan}" : x < 0 ? "-\\infty" : "\\infty";
  const text = Math.abs(x) >= kWholeBelow ? x.toExponential(kDigits) : String(Number(x.toFixed(kDigits)));
  return text === "-0" ? "0" : text;
}
export const factor = (x) => (x < 0 ? `(${plain(x)})` : plain(x));

// A matrix's name in a formula: one letter with its subscripts is a variable, anything longer a word.
const nameTex = (name) => (/\p{L}{2}/u.test(name) ? `\\text{${name}}` : name);

// Long sums are cut in the middle.
const kMostTerms = 5;
function sumTex(terms) {
  const shown = terms.length <= kMostTerms ? terms : [...terms.slice(0, 3), "\\ldots", terms.at(-1)];
  return shown.join(" + ");
}
export const productTex = (a, b) => sumTex(a.map((x, d) => `${factor(x)} \\times ${factor(b[d])}`));

export function given(name, rows, columns, values, more = {}) {
  return { id: name, name, tex: nameTex(name), rows, columns, values, from: null, ...more };
}

// Numbers that are computed in a way of their own: from(row, column) says how.
export const computed = (name, rows, columns, values, from, more = {}) =>
  ({ id: name, name, tex: nameTex(name), rows, columns, values, from, ...more });

// a b.
export const productOf = (name, a, b, more = {}) =>
  computed(name, a.rows, b.columns, product(a.values, b.values), (r, c) => ({
    tex: productTex(a.values[r], b.values.map((row) => row[c])),
    marks: [{ id: a.id, row: r }, { id: b.id, column: c }],
  }), more);

// a b^T: every row of a against every row of b.
export const products = (name, a, b, more = {}) =>
  computed(name, a.rows, b.rows, productTransposed(a.values, b.values), (r, c) => ({
    tex: productTex(a.values[r], b.values[c]),
    marks: [{ id: a.id, row: r }, { id: b.id, row: c }],
  }), more);

// f of every number of `a`; tex(x) is the formula of one.
export const eachOf = (name, a, f, tex, more = {}) =>
  computed(name, a.rows, a.columns, a.values.map((row, r) => row.map((x, c) => f(x, r, c))), (r, c) => ({
    tex: tex(a.values[r][c], r, c),
    marks: [{ id: a.id, row: r, column: c }],
  }), more);

export function softmaxTex(row, column) {
  const open = row.filter((x) => x !== -Infinity);
  if (open.length === 0) return "0";
  return `\\frac{e^{${plain(row[column])}}}{${sumTex(open.map((x) => `e^{${plain(x)}}`))}}`;
}

export const softmaxOf = (name, a, more = {}) =>
  computed(name, a.rows, a.columns, a.values.map(softmax), (r, c) => ({
    tex: softmaxTex(a.values[r], c), marks: [{ id: a.id, row: r }],
  }), more);

// e^x, and the sum of each row as a last column.
export function exponentialsOf(name, a, more = {}) {
  const values = a.values.map((row) => [...row.map(Math.exp), Math.exp(logSumExp(row))]);
  return computed(name, a.rows, [...a.columns, "sum"], values, (r, c) => (c < a.columns.length
    ? { tex: `e^{${plain(a.values[r][c])}}`, marks: [{ id: a.id, row: r, column: c }] }
    : { tex: sumTex(values[r].slice(0, -1).map(plain)), marks: [{ id: more.id ?? name, row: r }] }), more);
}

export const scaledBy = (name, a, scale, tex, more = {}) => eachOf(name, a, (x) => x * scale, tex, more);

// Another picture of the same numbers: its cells are those of `of`.
export const transposed = (of) => ({
  ...of, tex: `${of.tex}^T`, rows: of.columns, columns: of.rows, values: transpose(of.values), transposed: true,
  from: null,
});

// Some rows of a matrix that the reader does not change here.
export const rowsOf = (matrix, begin, end) => ({
  ...matrix, id: `${matrix.id} ${begin}`, rows: matrix.rows.slice(begin, end), values: matrix.values.slice(begin, end),
  input: undefined, from: null,
});

// Some columns of a matrix under another name, such as a head's.
export const columnsOf = (name, matrix, begin, end, columns, more = {}) => computed(
  name, matrix.rows, columns, matrix.values.map((row) => row.slice(begin, end)),
  (r, c) => ({ tex: plain(matrix.values[r][begin + c]), marks: [{ id: matrix.id, row: r, column: begin + c }] }), more);

// Matrices of the same rows side by side.
export function sideBySide(name, parts, columns, more = {}) {
  const values = parts[0].values.map((_, r) => parts.flatMap((part) => part.values[r]));
  const width = parts[0].columns.length;
  return computed(name, parts[0].rows, columns, values, (r, c) => ({
    tex: plain(values[r][c]), marks: [{ id: parts[Math.floor(c / width)].id, row: r, column: c % width }],
  }), more);
}
