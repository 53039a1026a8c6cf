import assert from "node:assert/strict";
import { test } from "node:test";

import { allowedBy, both, causal, everything, longformer, slidingWindow, strided } from "../patterns.js";

const drawn = (pattern, queries, keys = queries) =>
  allowedBy(pattern, queries, keys).map((row) => row.map((open) => (open ? "x" : ".")).join(""));

test("the causal mask is a triangle, and the last query stands at the last key", () => {
  assert.deepEqual(drawn(causal(), 3), ["x..", "xx.", "xxx"]);
  assert.deepEqual(drawn(causal(), 2, 4), ["xxx.", "xxxx"]);
});

test("a window is a band", () => {
  assert.deepEqual(drawn(slidingWindow(1, 0), 4), ["x...", "xx..", ".xx.", "..xx"]);
  assert.deepEqual(drawn(everything(), 2), ["xx", "xx"]);
});

test("strided sees its neighbours and every stride-th key", () => {
  assert.deepEqual(drawn(both(strided(2), causal()), 6), ["x.....", "xx....", "xxx...", ".xxx..", "x.xxx.", ".x.xxx"]);
});

test("longformer's global positions see and are seen by all, and a dilated window has gaps", () => {
  assert.deepEqual(drawn(longformer(1, 1), 4), ["xxxx", "xxx.", "xxxx", "x.xx"]);
  assert.deepEqual(drawn(longformer(1, 0, 2), 4), ["x.x.", ".x.x", "x.x.", ".x.x"]);
});
