// @ts-check
// Swipes on a yes/no question: right is yes, left is no. A swipe clicks the buttons, which remain.

import { buttonOf } from "./state.js";

/** @import { State } from "./types.js" */

/** Distance of a swipe that answers, in pixels: less is a tap or an aborted swipe. */
const FAR = 72;

/** Elements where a swipe means something else: selecting text, seeking in a recording, turning images. */
const TAKES_FINGERS = "textarea, input, audio, .recording, .pictures";

/** Above this zoom level a finger pans the page. */
const ENLARGED = 1.02;

/**
 * Direction of a swipe that is long enough.
 *
 * @param {number} x pixels to the right
 * @param {number} y pixels down
 * @returns {"right" | "left" | null} null if it scrolls or is too short
 */
export function sideOf(x, y) {
  if (Math.abs(x) < FAR || Math.abs(x) < 2 * Math.abs(y)) return null;
  return x > 0 ? "right" : "left";
}

/**
 * Whether this is a single finger at a place where it may answer. A second one zooms; a pen selects text like
 * a mouse.
 *
 * @param {PointerEvent} event
 */
const mayAnswer = ({ pointerType, isPrimary, target }) =>
  pointerType === "touch" &&
  isPrimary &&
  (window.visualViewport?.scale ?? 1) < ENLARGED &&
  !(target instanceof Element && target.closest(TAKES_FINGERS));

/**
 * Listens for swipes on the question. The label in question moves with the finger, unless the user prefers
 * reduced motion.
 *
 * @param {State} state
 */
export function hearSwipes(state) {
  /** @type {HTMLElement | null} */
  const area = state.holder.querySelector(".body");
  if (!area) return;
  // Found once: other buttons may get the same keys when all choices are shown.
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
  // The finger scrolls or zooms, or was held to select text or open a menu.
  for (const name of ["pointercancel", "selectstart", "contextmenu"]) area.addEventListener(name, forget);
  area.addEventListener("pointerup", (event) => {
    if (from?.id !== event.pointerId) return;
    const side = sideOf(...goneFrom(from, event));
    forget();
    const button = side && buttons[side];
    if (button?.isConnected) button.click();
  });
}
