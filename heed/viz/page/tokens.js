// Tokens as a reader reads them: vocabularies mark spaces and the insides of words in ways of their own.

const kSpecial = /^(<\/?[A-Za-z_0-9|]+>|\[[A-Z_0-9]+\]|<\|.*\|>)$/u;
const kWordStart = /^[▁Ġ]/u;  // SentencePiece's and byte-level BPE's space
const kInside = /^##/u;  // WordPiece's
const kJoined = /^\p{L}/u;
const kUnspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const kRightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
const kPunctuation = /^[\p{P}\p{S}]+$/u;

// With pictures of control characters, and without those that act instead of showing (as heed/viz/visible_text.h has
// it).
export const visible = (text) =>
  text.replace(/[\u0000-\u001f\u007f]/gu, (control) => String.fromCharCode(control === "\u007f" ? 0x2421 : 0x2400 + control.charCodeAt(0)))
    .replace(/[\u0080-\u009f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]/gu, "\ufffd");

// Whether each token is special ("<s>", "[CLS]"): as the trace's word numbers say, or else by its looks.
export function specialOf(tokens, words) {
  return words ? words.map((word) => word < 0) : tokens.map((token) => kSpecial.test(token));
}

// The number of each token's word: the trace's own, or what the marks say; without any mark a token is a word.
export function wordsOf(tokens, words) {
  if (words) return words;
  const special = specialOf(tokens);
  const marksStarts = tokens.some((token) => kWordStart.test(token));
  const marksInsides = tokens.some((token) => kInside.test(token));
  let word = -1, open = false;
  return tokens.map((token, i) => {
    if (special[i]) {
      open = false;
      return -1;
    }
    const goes_on = open && (marksStarts ? !kWordStart.test(token) : marksInsides && kInside.test(token));
    if (!goes_on) ++word;
    open = true;
    return word;
  });
}

// A patch is its row and column, a frame of sound its time. Text is without the marks: "▁tired" is "tired", and a piece
// inside a word "·ness". A space alone is shown as "␣".
export function labelsOf(side) {
  if (side.grid) return side.tokens.map((token, i) => (side.words[i] < 0 ? token : placeOf(side.grid, side.words[i])));
  if (side.seconds) return side.tokens.map((token, i) => `${(i * side.seconds).toFixed(2)} s`);
  return side.tokens.map((token, i) => {
    if (side.special[i]) return token;
    const plain = token.replace(kWordStart, "").replace(kInside, "").replaceAll("▁", " ").replaceAll("Ġ", " ");
    if (plain.trim() === "") return "␣";
    const inside = i > 0 && side.words[i] === side.words[i - 1] && side.words[i] >= 0;
    return inside && kJoined.test(plain) && !kUnspaced.test(plain) ? `·${plain}` : plain;
  });
}

const placeOf = (grid, i) => `${Math.floor(i / grid.columns)},${i % grid.columns}`;

// A word of several pieces as one label.
export const joined = (labels) =>
  labels.map((label, i) => (i > 0 && label.startsWith("·") ? label.slice(1) : label)).join("");

export const isPunctuation = (label) => kPunctuation.test(label) && label !== "␣";

// Whether most of the tokens that have letters are written from right to left.
export function rightToLeft(tokens) {
  const written = tokens.filter((token) => /\p{L}/u.test(token));
  return written.length > 0 && 2 * written.filter((token) => kRightToLeft.test(token)).length > written.length;
}

// At most this many characters, the last of them "…" where some are left out.
export function shortened(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}
