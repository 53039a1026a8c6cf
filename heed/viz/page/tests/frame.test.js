import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { format, parse } from "../address.js";
import { csv, json, wrapped } from "../export.js";
import { headColour, roundEnd, Scale, themes } from "../palette.js";
import { translate, words } from "../words.js";
import { walks } from "../walks/all.js";

const defaults = { view: "heads", layer: -1, words: false, special: true, note: "", "heads.pin": "" };

test("the address keeps what differs from the defaults, and gives it back", () => {
  assert.equal(format(defaults, defaults), "");
  const state = { ...defaults, layer: 3, words: true, special: false, note: "a & b = c #1 é 中", "heads.pin": "q3" };
  assert.deepEqual(parse(`#${format(state, defaults)}`, defaults), state);
});

test("what an address says wrongly, or of other pages, is left alone", () => {
  assert.deepEqual(parse("#layer=two&words=maybe&unknown=1&layer=&__proto__=x", defaults), defaults);
  assert.deepEqual(parse("", defaults), defaults);
});

test("a number is whole, unless its key may be a fraction", () => {
  const numbers = { layer: -1, least: 0, "walk.step": 0 };
  assert.deepEqual(parse("#layer=0.5&least=0.25&walk.step=1e-3", numbers, ["least"]), { layer: -1, least: 0.25, "walk.step": 0 });
  assert.deepEqual(parse("#layer=2&least=Infinity&walk.step=1e300", numbers, ["least"]), { layer: 2, least: 0, "walk.step": 0 });
});

test("all words are in both languages, with the same places to fill in", () => {
  for (const [key, [english, chinese, ...more]] of Object.entries(words)) {
    const places = (text) => (text.match(/\{\w+\}/gu) ?? []).sort().join();
    assert.equal(more.length, 0, key);
    assert.equal(english === "", chinese === "", key);
    assert.equal(places(english), places(chinese), key);
  }
  assert.equal(translate("map.layer-number", "zh", { layer: 3 }), "第 3 层");
  assert.throws(() => translate("no.such", "en"), /no words/u);
});

// The page's modules, without the tables of words.
const folder = fileURLToPath(new URL("..", import.meta.url));
const modules = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js") && !/^(tests|words)\b/u.test(name));
const sources = modules.map((name) => [name, readFileSync(`${folder}/${name}`, "utf8")]);

test("every word that a module asks for is there", () => {
  let asked = 0;
  for (const [file, source] of sources) {
    for (const [, key] of source.matchAll(/\bt\("([\w.-]+)"/gu)) {
      assert.ok(key in words, `${file} asks for "${key}"`);
      ++asked;
    }
  }
  assert.ok(asked > 50);
});

test("every word is asked for, as it is or by a pattern; those of walks by the walks", () => {
  const plain = new Set(), patterns = [];
  for (const [, source] of sources) {
    for (const [, key] of source.matchAll(/"([\w.-]+)"/gu)) plain.add(key);
    for (const [, pattern] of source.matchAll(/`([\w.-]+\.\$\{[^`]*|\$\{view\.id\}\.[^`]*)`/gu)) {
      patterns.push(new RegExp(`^${pattern.replaceAll(/\$\{[^}]*\}/gu, "\0").replaceAll(".", "\\.").replaceAll("\0", "[\\w-]+")}$`, "u"));
    }
  }
  const ofWalks = (key) => walks.some(({ id }) => `${key}.`.startsWith(`walk.${id}.`));
  const left = Object.keys(words).filter((key) => !ofWalks(key) && !plain.has(key) && !patterns.some((pattern) => pattern.test(key)));
  assert.deepEqual(left, []);
});

test("csv quotes what needs it, and numbers keep seven digits", () => {
  assert.equal(csv({ columns: ["a", "b"], rows: [['say "x"', 1 / 3], [",", 2]] }), 'a,b\r\n"say ""x""",0.3333333\r\n",",2\r\n');
  assert.deepEqual(JSON.parse(json({ columns: ["a"], rows: [[0.1 + 0.2]] }, { view: "v" })), { view: "v", columns: ["a"], rows: [[0.3]] });
});

test("a note's lines end at spaces, between Chinese characters, or anywhere where a word is too long", () => {
  const lines = (text) => wrapped(text, 10, (part) => part.length);
  assert.deepEqual(lines("one two three"), ["one two ", "three"]);
  assert.deepEqual(lines("one\ntwo"), ["one\n", "two"]);
  assert.deepEqual(lines("注意力".repeat(7)).map((line) => line.length), [10, 10, 1]);
  assert.deepEqual(lines("一二三四五六七八九十，零"), ["一二三四五六七八九", "十，零"]);
  assert.deepEqual(lines("a".repeat(25)).map((line) => line.length), [10, 10, 5]);
});

test("a scale ends at the smallest round number that holds all", () => {
  assert.equal(roundEnd([0, 0.31, 0.29]), 0.4);
  assert.equal(roundEnd([1]), 1);
  assert.equal(roundEnd([0, 0]), 1);
});

test("the scale runs from paper to deep, and the other way on dark paper", () => {
  const grey = [...Array(256).keys()].map((i) => (255 - i).toString(16).padStart(2, "0").repeat(3)).join("");
  const scale = new Scale(grey);
  assert.equal(scale.colour(0, false), "#ffffff");
  assert.equal(scale.colour(2, false), "#000000");
  assert.equal(scale.colour(0, true), "#000000");
  assert.equal(new Uint8Array(scale.pixels(true).buffer)[4 * 255], 255);
});

const luminance = (name) => {
  const linear = [1, 3, 5].map((at) => parseInt(name.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

test("text can be read and heads can be seen on either theme's ground", () => {
  for (const [name, theme] of Object.entries(themes)) {
    for (const ground of ["paper", "panel", "hover"]) {
      for (const ink of ["ink", "quiet", "accent", "mark"]) assert.ok(contrast(theme[ink], theme[ground]) >= 4.5, `${name}: ${ink} on ${ground}`);
    }
    assert.ok(contrast(theme.ink, theme.wash) >= 4.5);
    assert.ok(contrast(theme["on-accent"], theme.accent) >= 4.5);
    for (let head = 0; head < 8; ++head) assert.ok(contrast(headColour(head, name === "dark"), theme.panel) >= 2.8, `${name}: head ${head}`);
  }
});
