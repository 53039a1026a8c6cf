// What a head seems to do, measured: entropy, distance, and how much of its weight goes where simple heads look.
//
//   measure({ weights, rows, columns, labels, special, self: true });
//   // { entropy: 1.2 bits, distance: 2.1 tokens, shares: { previous: 0.93, ... }, role: "previous" }
//
// A share is the mean, over the rows that had a choice (two weights at least that are not 0), of the weight that such a
// head would look at. The role is that of the largest share, if that is at least kRoleShare; "even" where the mean
// entropy is at least kEvenEntropy of what equal weights would have; otherwise there is none.

import { isPunctuation } from "./tokens.js";

export const kRoleShare = 0.5;
export const kEvenEntropy = 0.9;

// In bits, of a row divided by its sum.
export function entropyOf(row) {
  let sum = 0, entropy = 0;
  for (const weight of row) if (weight > 0) sum += weight;
  if (sum <= 0) return 0;
  for (const weight of row) if (weight > 0) entropy -= (weight / sum) * Math.log2(weight / sum);
  return Math.max(0, entropy);
}

// self: rows and columns are the same tokens, so that places can be compared; else "diagonal" is the column, and its
// neighbours, that lie as far along as the row does.
export function measure({ weights, rows, columns, labels, special, self }) {
  const sums = self ? { itself: 0, previous: 0, next: 0, first: 0, punctuation: 0, special: 0 } : { diagonal: 0, first: 0, punctuation: 0, special: 0 };
  const possible = Object.fromEntries(Object.keys(sums).map((role) => [role, 0]));
  const marks = labels.map((label, i) => !special[i] && isPunctuation(label));
  const marksAny = marks.includes(true), specialAny = special.includes(true);
  let entropy = 0, evenness = 0, distance = 0, counted = 0;

  for (let row = 0; row < rows; ++row) {
    const at = row * columns;
    let total = 0, choices = 0, away = 0, onMarks = 0, onSpecial = 0;
    const along = self ? row : rows > 1 ? (row * (columns - 1)) / (rows - 1) : 0;
    for (let column = 0; column < columns; ++column) {
      const weight = weights[at + column];
      if (weight <= 0) continue;
      total += weight;
      ++choices;
      away += weight * Math.abs(column - along);
      if (marks[column]) onMarks += weight;
      if (special[column]) onSpecial += weight;
    }
    if (choices < 2) continue;
    ++counted;
    const bits = entropyOf(weights.subarray(at, at + columns));
    entropy += bits;
    evenness += bits / Math.log2(choices);
    distance += away / total;
    const add = (role, there, weight) => {
      if (!there || !(role in sums)) return;
      ++possible[role];
      sums[role] += weight / total;
    };
    add("itself", self, weights[at + row]);
    add("previous", self && row > 0, weights[at + row - 1]);
    add("next", self && row + 1 < columns, weights[at + row + 1]);
    add("first", !self || row > 1, weights[at]);
    add("punctuation", marksAny, onMarks);
    add("special", specialAny, onSpecial);
    if (!self) {
      const middle = Math.round(along);
      let near = 0;
      for (let column = Math.max(0, middle - 1); column <= Math.min(columns - 1, middle + 1); ++column) near += weights[at + column];
      add("diagonal", columns > 4, near);
    }
  }

  const shares = Object.fromEntries(Object.keys(sums).filter((role) => possible[role] > 0).map((role) => [role, sums[role] / possible[role]]));
  const [best] = Object.entries(shares).sort((a, b) => b[1] - a[1]);
  let role = null;
  if (best && best[1] >= kRoleShare) [role] = best;
  else if (counted > 0 && evenness / counted >= kEvenEntropy) role = "even";
  const mean = (sum) => (counted > 0 ? sum / counted : 0);
  return { entropy: mean(entropy), distance: mean(distance), shares, role };
}
