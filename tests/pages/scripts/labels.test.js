// A row's labels: what the button says that it will store.

import assert from "node:assert/strict";
import { test } from "node:test";
import { saveWords } from "../../../pages/parts/label_vectors/labels.js";

test("the button says how many labels are right, and how many are not", () => {
  assert.equal(saveWords(0, 1), "Save: none of 1 label");
  assert.equal(saveWords(0, 6), "Save: none of 6 labels");
  assert.equal(saveWords(1, 6), "Save: 1 label, 5 not");
  assert.equal(saveWords(6, 6), "Save: 6 labels, 0 not");
});
