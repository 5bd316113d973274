// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { candidates } from "../../../pages/parts/one_label/candidates.js";
import { isTooLate, noteForm } from "../../../pages/parts/one_label/yes_no.js";

/** @import { State } from "../../../pages/parts/card/types.js" */
/** @import { CandidateQuestion } from "../../../pages/parts/one_label/types.js" */

const card = () =>
  /** @type {State} */ (/** @type {unknown} */ ({ data: { token: "t" }, holder: { querySelector: () => null } }));
const which = /** @type {CandidateQuestion} */ (/** @type {unknown} */ ({ yesNo: null, marks: [], view: {} }));
const yesNo = /** @type {CandidateQuestion} */ (/** @type {unknown} */ ({ ...which, yesNo: {} }));

test("the letters of yes and no are not candidates just after it", () => {
  const state = card();
  noteForm(state, which, 0);
  assert.ok(!isTooLate(state, "n", 1), "nothing was asked in yes and no yet");
  noteForm(state, yesNo, 1000);
  assert.ok(!isTooLate(state, "n", 1001), "it is the answer");
  noteForm(state, which, 2000);
  assert.ok(isTooLate(state, "n", 2100));
  assert.ok(isTooLate(state, "a", 2499));
  assert.ok(!isTooLate(state, "b", 2100));
  assert.ok(!isTooLate(state, "n", 2500));
  noteForm(state, which, 2600);
  assert.ok(!isTooLate(state, "n", 2601), "the question before was a list too");
});

test("the room swallows such a press", () => {
  const state = card();
  const pressed = (/** @type {string} */ name) => {
    const event = /** @type {KeyboardEvent} */ (/** @type {unknown} */ ({ timeStamp: performance.now() }));
    return candidates.command?.(state, which, event, name);
  };
  candidates.drawn?.(state, yesNo);
  assert.equal(pressed("n"), null);
  candidates.drawn?.(state, which);
  assert.ok(pressed("n"));
  assert.equal(pressed("2"), null);
});
