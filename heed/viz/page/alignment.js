// Word alignment from weights, and its error rate against gold (Och and Ney 2003, "A systematic comparison of various
// statistical alignment models").

// The column of each row's largest weight, where that is at least `least`: [[column, row]], a source and a target word.
export function alignmentOf(weights, rows, columns, least) {
  const links = [];
  for (let row = 0; row < rows; ++row) {
    let best = 0;
    for (let column = 1; column < columns; ++column) {
      if (weights[row * columns + column] > weights[row * columns + best]) best = column;
    }
    if (columns > 0 && weights[row * columns + best] >= least) links.push([best, row]);
  }
  return links;
}

// gold: [[source, target, sure]]. { aer in [0, 1], found, allSure, sure: sure ones found, right: found ones that gold has }.
export function errorRate(links, gold) {
  const key = ([source, target]) => `${source}-${target}`;
  const possible = new Set(gold.map(key));
  const certain = new Set(gold.filter(([, , sure]) => sure).map(key));
  const found = new Set(links.map(key));
  const both = (set) => [...found].filter((link) => set.has(link)).length;
  const sure = both(certain), right = both(possible);
  const all = found.size + certain.size;
  return { aer: all > 0 ? 1 - (sure + right) / all : 0, found: found.size, allSure: certain.size, sure, right };
}
