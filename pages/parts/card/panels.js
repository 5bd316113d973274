// @ts-check
// What every kind's card opens over itself: the history and the key sheet.

import { closeButton, openDialog } from "./dialog.js";
import { make } from "./elements.js";
import { want } from "./examples.js";
import { press } from "./press.js";
import { roomOf } from "./state.js";

/** @import { Given, State } from "./types.js" */

/** Answers that the history shows with their rows. */
const LAST = 10;

/** @param {State} state */
export function openHistory(state) {
  const { history } = state.data;
  /**
   * @param {Given} one
   * @param {number} place
   */
  const line = (one, place) => {
    const back = one.withdrawn;
    const button = make(
      "button",
      {
        class: "action",
        type: "button",
        disabled: back && !one.redoable,
        "aria-label": `${back ? "Redo" : "Undo"}: ${one.words}`,
        title: back && !one.redoable ? "Given again, or the row has other candidates now" : null,
        onclick: () => {
          dialog.close();
          press(state, null, back ? "redo" : "undo", [], one.seq);
        },
      },
      make("span", { text: back ? "Redo" : "Undo" }),
    );
    return make(
      "li",
      { class: back ? "back" : "" },
      make(
        "div",
        { class: "told" },
        make("span", { class: "words", text: one.words }),
        place < LAST && make("div", { class: "look", "data-seq": one.seq }),
        back && make("span", { class: "about", text: "taken back" }),
        one.flagged && make("span", { class: "about", text: "flagged" }),
        one.note && make("span", { class: "about", text: `“${one.note}”` }),
      ),
      make(
        "div",
        { class: "either" },
        place < LAST &&
          make(
            "button",
            {
              class: "action",
              type: "button",
              "aria-label": `Open: ${one.words}`,
              title: "The row on the Review page, with all you said about it",
              onclick: () => {
                dialog.close();
                press(state, null, "open", [], one.seq);
              },
            },
            make("span", { text: "Open" }),
          ),
        button,
      ),
    );
  };
  const dialog = openDialog(
    state,
    "history",
    "Your last answers",
    make("h2", { text: "Your last answers" }),
    history.length
      ? make("ol", { class: "past" }, ...history.map(line))
      : make("p", { text: "Nothing answered yet in this project." }),
    make(
      "div",
      { class: "row" },
      closeButton(() => dialog.close()),
    ),
  );
  dialog.keys = closedBy("h", () => dialog.close());
  if (history.length) want(state, "history");
}

/**
 * What ends every sheet of keys.
 *
 * @type {[string, string][]}
 */
export const COMMON_KEYS = [
  ["H", "Your last ten answers with their rows, and the earlier ones"],
  [", (comma)", "The answered rows most like this one"],
  ["T / F", "Note, flag: stored with the answer"],
  ["Z", "Zoom into the image; wheel or + and −, arrows move it, B shows it brighter"],
  ["← / →", "The other pictures of the row; zoomed in, comma and full stop"],
  ["P", "Play or pause the recording: the asked segment, where there is one"],
  ["R / L / −", "Play it again, loop it, at half speed"],
  ["← / →", "Half a second back or on in the recording"],
  ["G", "Guidelines, where the owner has written some"],
  ["Shift + G", "Examples of the classes, where the owner has marked some"],
  ["Shift + P", "Take a break: the question is hidden and its clock stands still"],
  ["Tab", "To every button; Enter presses it"],
  ["? / Esc", "This sheet; close what is open"],
];

/** @param {State} state */
export function openKeys(state) {
  const dialog = openDialog(
    state,
    "sheet",
    "Keys",
    make("h2", { text: "Keys" }),
    make(
      "dl",
      { class: "sheet" },
      ...roomOf(state).keys.flatMap(([name, does]) => [
        make("dt", {}, make("kbd", { text: name })),
        make("dd", { text: does }),
      ]),
    ),
    make(
      "div",
      { class: "row" },
      closeButton(() => dialog.close()),
    ),
  );
  dialog.keys = closedBy("?", () => dialog.close());
}

/**
 * @param {string} its the key that opened it closes it too
 * @param {() => void} close
 * @returns {(name: string) => boolean}
 */
const closedBy = (its, close) => (name) => {
  if (name !== its) return false;
  close();
  return true;
};
