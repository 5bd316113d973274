import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, date } from "../../../pages/parts/card/words.js";

test("a moment within a day is said by how long ago it was", () => {
  assert.equal(ago(0), "1 s ago");
  assert.equal(ago(59), "59 s ago");
  assert.equal(ago(60), "1 min ago");
  assert.equal(ago(3599), "60 min ago");
  assert.equal(ago(3600), "1 h ago");
  assert.equal(ago(86399), "24 h ago");
  assert.equal(ago(86400), null);
});

test("a date is that of the time zone", () => {
  assert.equal(date("2026-05-03T23:30:00+00:00", "Asia/Kathmandu"), "4 May 2026, 05:15");
  assert.equal(date("2026-05-03T23:30:00+00:00", "UTC"), "3 May 2026, 23:30");
});
