// The walks and the positions, held against `heed explain`: HEED is the command, as ctest sets it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { parseMath } from "../math.js";
import { productsOfPositions, sinusoids, wavelengths } from "../positions.js";
import { walks } from "../walks/all.js";
import { kDigits, numberStyle } from "../walks/matrices.js";
import { languages, translate } from "../words.js";

const command = process.env.HEED;
const skip = command ? false : "HEED does not name the command heed";
const explain = (...options) => JSON.parse(execFileSync(command, ["explain", "--json", ...options], { encoding: "utf8" }));
const initial = (walk) => Object.fromEntries(walk.controls.map((control) => [control.key, control.initial]));

// The numbers of two matrices, as far as is shown of them and well beyond.
function expectSame(seen, wanted, where) {
  assert.equal(seen.name, wanted.name, where);
  assert.equal(seen.head, wanted.head, where);
  assert.deepEqual(seen.rows, wanted.rows, `${where}: rows`);
  assert.deepEqual(seen.columns, wanted.columns, `${where}: columns`);
  const values = wanted.values.map((row) => row.map((x) => x ?? -Infinity));  // JSON has null for what a mask refuses
  values.forEach((row, r) => row.forEach((x, c) => {
    const difference = Math.abs(seen.values[r][c] - x);
    assert.ok(seen.values[r][c] === x || difference <= 1e-9 * Math.max(1, Math.abs(x)), `${where} ${r}, ${c}: ${seen.values[r][c]} instead of ${x}`);
  }));
  const shown = numberStyle(seen.values, kDigits), wantedShown = numberStyle(values, kDigits);
  assert.deepEqual(seen.values.map((row) => row.map(shown)), values.map((row) => row.map(wantedShown)), `${where}: as shown`);
}

function expectWalk(walk, controls, wanted) {
  const steps = walk.steps(walk.inputs, controls);
  assert.deepEqual(steps.map(({ name }) => name), wanted.steps.map(({ name }) => name));
  steps.forEach((step, i) => {
    const { name, matrices } = wanted.steps[i];
    assert.deepEqual(step.matrices.map((matrix) => matrix.name), matrices.map((matrix) => matrix.name), `${walk.id} ${name}`);
    step.matrices.forEach((matrix, m) => expectSame(matrix, matrices[m], `${walk.id} ${name} ${matrix.name}`));
  });
  return steps;
}

for (const walk of walks) {
  test(`${walk.id}: every number is that of heed explain`, { skip }, () => {
    expectWalk(walk, initial(walk), explain("--example", walk.id));
  });

  test(`${walk.id}: its words are those of heed explain, in every language`, { skip }, () => {
    for (const language of Object.keys(languages)) {
      const wanted = explain("--example", walk.id, "--language", language);
      assert.equal(translate(`walk.${walk.id}`, language), wanted.title);
      assert.equal(translate(`walk.${walk.id}.text`, language), wanted.introduction);
      walk.steps(walk.inputs, initial(walk)).forEach((step, i) => {
        const key = ["walk", walk.id, step.name, step.variant].filter(Boolean).join(".");
        const said = (step.says ?? []).map((one) => translate(`walk.${walk.id}.${one}.text`, language));
        assert.equal(translate(key, language), wanted.steps[i].title);
        assert.equal([translate(`${key}.text`, language), ...said].join(language === "zh" ? "" : " "), wanted.steps[i].meaning);
      });
    }
  });

  test(`${walk.id}: every formula and every calculation can be drawn`, () => {
    for (const step of walk.steps(walk.inputs, initial(walk))) {
      step.formula.split("\\quad").forEach(parseMath);
      for (const part of step.shown.flat()) {
        if (typeof part === "string") parseMath(part);
        else {
          parseMath(part.tex);
          if (part.from) part.values.forEach((row, r) => row.forEach((_, c) => parseMath(part.from(r, c).tex)));
        }
      }
    }
  });

  test(`${walk.id}: what a number came from is shown beside it`, () => {
    for (const step of walk.steps(walk.inputs, initial(walk))) {
      const shown = new Set(step.shown.flat().filter((part) => typeof part !== "string").map(({ id }) => id));
      for (const part of step.shown.flat()) {
        if (typeof part === "string" || !part.from || !step.matrices.some(({ id }) => id === part.id)) continue;
        const marks = part.values.flatMap((row, r) => row.flatMap((_, c) => part.from(r, c).marks));
        assert.ok(marks.length === 0 || marks.some(({ id }) => shown.has(id)), `${walk.id} ${step.name} ${part.name}`);
      }
    }
  });
}

test("a causal mask and other numbers, as heed explain has them", { skip }, () => {
  const walk = walks.find(({ id }) => id === "attention");
  expectWalk(walk, { causal: true }, explain("--mask", "causal"));
});

test("numbers that a reader has changed, as heed explain has them", { skip }, () => {
  const walk = walks.find(({ id }) => id === "attention");
  const inputs = { Q: [[1.5, 0, -1], [0, 2, 1]], K: [[1, 1, 0.25], [0, -1, 1]], V: [[1, 2], [3, -4]] };
  const options = Object.entries(inputs).flatMap(([name, values]) => [`--${name.toLowerCase()}`, JSON.stringify(values)]);
  const wanted = explain(...options), steps = walk.steps(inputs, { causal: false });
  for (const name of ["scores", "scaled", "weights", "output"]) {
    const [matrix] = steps.find((step) => step.name === name).matrices;
    expectSame(matrix, wanted.steps.find((step) => step.name === name).matrices[0], name);
  }
});

test("the sinusoids, their wavelengths and products are those of heed explain", { skip }, () => {
  const length = 12, width = 16, { steps } = explain("--example", "positions", "--length", length, "--width", width);
  const valuesOf = (name) => steps.find((step) => step.name === name).matrices[0].values;
  // The command's table is of 32 bits.
  sinusoids(length, width).forEach((row, p) => row.forEach((x, d) => assert.ok(Math.abs(x - valuesOf("table")[p][d]) < 1e-6)));
  wavelengths(width).forEach((x, i) => assert.ok(Math.abs(x / valuesOf("frequencies")[i][1] - 1) < 1e-6));
  const product = productsOfPositions(length, width);
  valuesOf("products").forEach((row, p) => row.forEach((x, q) => assert.ok(Math.abs(x - product(p, q)) < 1e-5)));
});
