// The tables of people and of models: positions of dots, and words about an invite.

import assert from "node:assert/strict";
import test from "node:test";

import { placeOn } from "../../../pages/parts/measured/table.js";
import { linkWords } from "../../../pages/parts/measured/team.js";

test("placeOn gives the share of the axis and stays on it", () => {
  assert.equal(placeOn(0.75, [0.5, 1]), "50%");
  assert.deepEqual([placeOn(-0.2, [0, 1]), placeOn(1.2, [0, 1])], ["0%", "100%"]);
});

test("linkWords tells what has become of a link", () => {
  const at = "2026-12-03T09:30:00+00:00";
  const invite = { id: 1, name: "Sam", role: "Annotator", at };
  assert.equal(linkWords({ ...invite, link: "open" }, "UTC"), "Link not opened yet, expires 3 Dec 2026, 09:30");
  assert.equal(linkWords({ ...invite, link: "none", at: null }, "UTC"), "No answers yet");
});
