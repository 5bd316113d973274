import assert from "node:assert/strict";
import { test } from "node:test";
import { megabytes, wrongWith } from "../../../pages/parts/importing/file_box.js";

const BOX = { most: 200e6, limit: "At most 200 MB, one file." };

test("a file within the limit is taken", () => {
  assert.equal(wrongWith([{ size: 0 }], BOX), "");
  assert.equal(wrongWith([{ size: 200e6 }], BOX), "");
});

test("a file beyond it is told both sizes before any of it is sent", () => {
  assert.equal(wrongWith([{ size: 345e6 }], BOX), "The file has 345 MB. At most 200 MB, one file.");
});

test("several files are not one", () => {
  assert.equal(wrongWith([{ size: 1 }, { size: 1 }], BOX), "Drop a single file.");
  assert.equal(wrongWith([], BOX), "Drop a single file.");
});

test("sizes are read at a glance", () => {
  assert.deepEqual([0, 1.24e6, 9.9e6, 10e6, 123.4e6].map(megabytes), ["0.0 MB", "1.2 MB", "9.9 MB", "10 MB", "123 MB"]);
});
