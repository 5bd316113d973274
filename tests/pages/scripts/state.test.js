// @ts-check
// Notes of questions whose projects have the same tokens.

import assert from "node:assert/strict";
import { test } from "node:test";

import { keepDraft, nameOf } from "../../../pages/parts/card/state.js";

test("a note stays with its question, though another project's has the same token", () => {
  /** @type {any} */
  const state = { data: { project: 1, token: "1.7.0" }, note: "odd", flagged: true, answered: null, drafts: new Map() };
  const other = { project: 2, token: "1.7.0" };
  keepDraft(state, nameOf(other));
  assert.deepEqual([state.note, state.flagged], ["", false]);
  state.data = other;
  keepDraft(state, nameOf({ project: 1, token: "1.7.0" }));
  assert.deepEqual([state.note, state.flagged], ["odd", true]);
});
