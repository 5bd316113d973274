// The newer data: of the page's redraw or of the direct route.

import assert from "node:assert/strict";
import { test } from "node:test";
import { after, newest } from "../../../pages/parts/card/state.js";

const NOTHING = { similar: null, panel: null, examples: false, saved: null };

/**
 * @param {Record<string, unknown>} more
 * @returns {any}
 */
const drawn = (more) => ({ ...NOTHING, project: 1, tab: "a", turn: 0, drawing: 1, height: 0, token: "0", ...more });

test("what a press has brought stays where the page hands its own drawing again", () => {
  const first = drawn({ tab: "again" });
  assert.equal(newest(first), first);
  const next = after(first, { height: 1, token: "1" });
  assert.equal(next.token, "1");
  assert.equal(newest(first), next);
  assert.equal(newest({ ...first }), next, "as for another theme");
});

test("a refusal changes no height, and stays all the same", () => {
  const first = newest(drawn({ tab: "refusal" }));
  const refused = after(first, { height: 0, token: "b" });
  assert.equal(newest(first), refused);
});

test("of what was drawn before the press only what was asked for besides is taken", () => {
  const first = newest(drawn({ tab: "late" }));
  after(first, { height: 2, token: "2", saved: { tone: "good", message: "", seq: 2, row: 2 } });
  const panel = { wanted: "history", refused: null, rows: [], given: [] };
  const late = newest({ ...first, drawing: 2, height: 1, token: "1", panel });
  assert.deepEqual([late.token, late.height, late.panel, late.saved?.tone], ["2", 2, panel, "good"]);
  const bad = { tone: "bad", message: "Not saved", seq: null, row: null };
  const refused = newest({ ...first, drawing: 3, turn: 1, height: 1, saved: bad });
  assert.deepEqual([refused.token, refused.turn, refused.saved?.message], ["2", 1, "Not saved"]);
});

test("a newer drawing counts, and so does one of the same height", () => {
  const first = newest(drawn({ tab: "newer" }));
  after(first, { height: 2, token: "2" });
  assert.equal(newest({ ...first, drawing: 2, height: 2, token: "paused" }).token, "paused");
  assert.equal(newest({ ...first, drawing: 3, height: 5, token: "5" }).token, "5");
});

test("an answer of the route that comes late changes nothing", () => {
  const first = newest(drawn({ tab: "slow", height: 4, token: "4" }));
  assert.equal(after(first, { height: 3, token: "3" }), first);
});

test("another project, another session and what has no order begin again", () => {
  const first = newest(drawn({ tab: "one", height: 9 }));
  after(first, { height: 10, token: "10" });
  assert.equal(newest({ ...first, project: 2, height: 1, token: "p" }).token, "p");
  assert.equal(newest({ ...first, tab: "two", drawing: 1, height: 1, token: "t" }).token, "t");
  assert.equal(newest({ ...first, tab: "two", drawing: 2, height: null, token: "n" }).token, "n");
});
