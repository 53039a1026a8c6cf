import assert from "node:assert/strict";
import { test } from "node:test";

import { walks } from "../walks/all.js";
import { readEdits, writeEdits } from "../walks/edits.js";

const walkOf = (id) => walks.find((walk) => walk.id === id);

test("what was changed is read again as it was written, and nothing else is written", () => {
  for (const walk of walks) {
    const untouched = readEdits(walk, "");
    assert.equal(writeEdits(walk, untouched), "");
    for (const [key, values] of Object.entries(walk.inputs)) {
      const changed = readEdits(walk, "");
      changed.inputs[key][values.length - 1][0] = -2.75;
      const text = writeEdits(walk, changed);
      assert.ok(text.startsWith(`${key}:`) && !text.includes("|"));
      assert.deepEqual(readEdits(walk, text), changed);
    }
  }
});

test("controls keep their type and their bounds", () => {
  const flash = walkOf("flash-attention"), attention = walkOf("attention");
  assert.equal(readEdits(flash, "keys:3").controls.keys, 3);
  for (const wrong of ["keys:0", "keys:7", "keys:1.5", "keys:", "keys:x"]) assert.equal(readEdits(flash, wrong).controls.keys, 2);
  assert.equal(readEdits(attention, "causal:1").controls.causal, true);
  assert.equal(writeEdits(attention, readEdits(attention, "causal:1")), "causal:1");
});

test("numbers that are none, or of another shape, are left as the walk has them", () => {
  const bahdanau = walkOf("bahdanau");
  for (const wrong of ["s:1", "s:1,2,3", "s:1,x", "s:1,", "s:Infinity,0", "nosuch:1,2", "s", "|||", "__proto__:1,2", "s:1,2;3,4"]) {
    assert.deepEqual(readEdits(bahdanau, wrong).inputs, bahdanau.inputs, wrong);
  }
});

test("a walk of a reader's own rows takes any shapes that fit each other", () => {
  const attention = walkOf("attention");
  const text = "Q:1,2|K:0,1;1,0;1,1|V:5;6;7";
  const { inputs } = readEdits(attention, text);
  assert.deepEqual(inputs, { Q: [[1, 2]], K: [[0, 1], [1, 0], [1, 1]], V: [[5], [6], [7]] });
  assert.equal(writeEdits(attention, { inputs, controls: { causal: false } }), text);
  const steps = attention.steps(inputs, { causal: true });
  assert.deepEqual(steps.find(({ name }) => name === "scores").matrices[0].values, [[2, 1, 3]]);
  for (const wrong of ["Q:1,2", "K:0,1;1,0;1,1", "Q:1,2;3", `Q:${"1,2,3;".repeat(33)}1,2,3`]) {
    assert.deepEqual(readEdits(attention, wrong).inputs, attention.inputs, wrong);
  }
});
