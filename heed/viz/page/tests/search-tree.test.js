import assert from "node:assert/strict";
import { test } from "node:test";

import { pathOf, searchTree, tokensOf } from "../search_tree.js";

const of = (parent, token, probability) =>
  ({ parent, token, log_probability: Math.log(probability), total: 0, candidates: [] });

// "a c" ends in the second step; "b d" goes on.
const steps = [
  { hypotheses: [of(-1, "a", 0.6), of(-1, "b", 0.4)] },
  { hypotheses: [of(1, "d", 0.5), of(0, "</s>", 0.3)] },
  { hypotheses: [of(0, "</s>", 0.9)] },
];

test("a path leads from the first step to a hypothesis", () => {
  assert.deepEqual(pathOf(steps, 2, 0), [1, 0, 0]);
  assert.deepEqual(tokensOf(steps, 1, 1), ["a", "</s>"]);
});

test("the answer's path is found where it ended before the last step", () => {
  assert.deepEqual(searchTree(steps, ["a", "</s>"]).answer, [0, 1]);
  assert.deepEqual(searchTree(steps, ["b", "d", "</s>"]).answer, [1, 0, 0]);
});

test("an answer that was cut is the longest path there is, one that is not there the best of the last step", () => {
  assert.deepEqual(searchTree(steps, ["b", "d"]).answer, [1, 0]);
  assert.deepEqual(searchTree(steps, ["x"]).answer, [1, 0, 0]);
  assert.deepEqual(searchTree([], ["x"]).answer, []);
});

test("nodes know their probability, whether they go on, and whether they are of the answer", () => {
  const { columns } = searchTree(steps, ["a", "</s>"]);
  assert.deepEqual(columns[0].map(({ goesOn, answer }) => [goesOn, answer]), [[true, true], [true, false]]);
  assert.deepEqual(columns[1].map(({ goesOn, answer }) => [goesOn, answer]), [[true, false], [false, true]]);
  assert.ok(Math.abs(columns[1][0].probability - 0.5) < 1e-12);
});

test("of a wide beam the first and the answer's are kept", () => {
  const wide = [{ hypotheses: Array.from({ length: 40 }, (_, i) => of(-1, `t${i}`, 0.02)) }];
  const { columns } = searchTree(wide, ["t33"], 5);
  assert.deepEqual(columns[0].map(({ token }) => token), ["t0", "t1", "t2", "t3", "t4", "t33"]);
});
