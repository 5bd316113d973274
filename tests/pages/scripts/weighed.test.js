// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { legendOf, notchOf, placeOf } from "../../../pages/parts/one_label/candidates.js";

/** @import { Candidate, CandidateQuestion } from "../../../pages/parts/one_label/types.js" */

/** @type {(given: (number | undefined)[], votes?: number) => CandidateQuestion} */
const question = (given, votes = 0) =>
  /** @type {CandidateQuestion} */ (
    /** @type {unknown} */ ({ votes, rows: given.map((one) => ({ given: one, weight: String(one) })) })
  );

test("the notch of what counts most stands at the end of the bar", () => {
  const scores = question([0.2, 0.8, undefined]);
  assert.deepEqual(
    scores.rows.map((row) => placeOf(scores, row)),
    [0.25, 1, 0],
  );
});

test("nothing is marked where the file says nothing, or where votes are dots", () => {
  const nothing = question([undefined, undefined]);
  assert.equal(legendOf(nothing), null);
  assert.equal(notchOf(nothing, nothing.rows[0]), null);
  const votes = question([3, 2], 5);
  assert.equal(notchOf(votes, votes.rows[0]), null);
});
