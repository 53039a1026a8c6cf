// Word alignment from weights, and its error rate against gold (Och and Ney 2003, "A systematic comparison of various
// statistical alignment models").

// The column of each row's largest weight, where that is at least `least`: [[column, row]].
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

// Links between rows and columns of what is shown (combine.js, pieces as words) as links between the words of the
// texts, which gold numbers: a word that no token was found for has a number, and no row or column.
export const betweenWords = (links, { queries, keys }) => links.map(([column, row]) => [keys.words[column], queries.words[row]]);

// The other way: [[column, row, sure]] of the gold links whose words are shown.
export const whereShown = (gold, { queries, keys }) =>
  gold.map(([source, target, sure]) => [keys.words.indexOf(source), queries.words.indexOf(target), sure])
    .filter(([column, row]) => column >= 0 && row >= 0);

// Of links between words. gold: [[source, target, sure]]. { aer in [0, 1], found, allSure, sure: sure ones found,
// right: found ones that gold has }.
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
