// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { confirmWords } from "../../../pages/parts/one_label/batch.js";

test("the button says what will be stored", () => {
  assert.equal(confirmWords(12, 0, "Red fox"), "12 are Red fox");
  assert.equal(confirmWords(12, 1, "Red fox"), "11 are Red fox, 1 is asked alone");
  assert.equal(confirmWords(12, 11, "Red fox"), "1 is Red fox, 11 are asked alone");
  assert.equal(confirmWords(12, 12, "Red fox"), "All 12 are asked alone");
  assert.equal(confirmWords(1, 0, "Red fox"), "1 is Red fox");
  assert.equal(confirmWords(1, 1, "Red fox"), "It is asked alone");
});
