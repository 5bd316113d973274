// @ts-check
// A finger across a question in yes and no: to the right is yes, to the left is no. It presses the buttons, which stay.

import { buttonOf } from "./state.js";

/** @import { State } from "./types.js" */

/** Pixels that a finger goes for an answer: less is a tap, or was thought better of. */
const FAR = 72;

/** Where a finger across means something else: text is marked there, recordings are sought in, pictures turned. */
const TAKES_FINGERS = "textarea, input, audio, .recording, .pictures";

/** Beyond this scale a finger moves what is larger than the screen. */
const ENLARGED = 1.02;

/**
 * Where a finger has gone that came so far.
 *
 * @param {number} x pixels to the right
 * @param {number} y pixels down
 * @returns {"right" | "left" | null} null where it scrolls, or has not gone far enough
 */
export function sideOf(x, y) {
  if (Math.abs(x) < FAR || Math.abs(x) < 2 * Math.abs(y)) return null;
  return x > 0 ? "right" : "left";
}

/**
 * Whether this is one finger, put where it may answer. A second one zooms; a pen marks text as a mouse does.
 *
 * @param {PointerEvent} event
 */
const mayAnswer = ({ pointerType, isPrimary, target }) =>
  pointerType === "touch" &&
  isPrimary &&
  (window.visualViewport?.scale ?? 1) < ENLARGED &&
  !(target instanceof Element && target.closest(TAKES_FINGERS));

/**
 * Hears fingers on the question that was drawn. The label that is asked about goes with them, unless less motion is wanted.
 *
 * @param {State} state
 */
export function hearSwipes(state) {
  /** @type {HTMLElement | null} */
  const area = state.holder.querySelector(".body");
  if (!area) return;
  // These buttons: the same keys may be others', once all choices are shown.
  const buttons = { right: buttonOf(state, "y"), left: buttonOf(state, "n") };
  /** @type {HTMLElement | null} */
  const moved = area.querySelector(".single");
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  /** @type {{ id: number, x: number, y: number } | null} */
  let from = null;
  const goneFrom = (/** @type {{ x: number, y: number }} */ { x, y }, /** @type {PointerEvent} */ event) =>
    /** @type {const} */ ([event.clientX - x, event.clientY - y]);
  /** @type {(x: number, y: number) => void} */
  const show = (x, y) => {
    const side = sideOf(x, y);
    for (const [name, button] of Object.entries(buttons)) button?.classList.toggle("aimed", name === side);
    if (moved && !still) moved.style.translate = Math.abs(x) > Math.abs(y) ? `${x / 3}px` : "";
  };
  const forget = () => {
    from = null;
    show(0, 0);
  };
  area.classList.add("swiped");
  area.addEventListener("pointerdown", (event) => {
    forget();
    if (mayAnswer(event)) from = { id: event.pointerId, x: event.clientX, y: event.clientY };
  });
  area.addEventListener("pointermove", (event) => {
    if (from?.id === event.pointerId) show(...goneFrom(from, event));
  });
  // It scrolls or zooms; or it was held until text is marked, or a menu opens.
  for (const name of ["pointercancel", "selectstart", "contextmenu"]) area.addEventListener(name, forget);
  area.addEventListener("pointerup", (event) => {
    if (from?.id !== event.pointerId) return;
    const side = sideOf(...goneFrom(from, event));
    forget();
    const button = side && buttons[side];
    if (button?.isConnected) button.click();
  });
}
