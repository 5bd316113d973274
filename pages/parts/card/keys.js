// @ts-check
// One listener on the window, before Streamlit's own keys. A key press clicks the button that has the key.

import { typesText } from "./elements.js";
import { keepForNext } from "./posting.js";
import { seek, soundOf } from "./sound.js";
import { buttonOf, roomOf } from "./state.js";

/** @import { State } from "./types.js" */

// The name of a key on any keyboard layout.

/**
 * Text that a key types; if it is not a Latin letter (я, ω, ש), the letter at its place on the keyboard.
 *
 * @param {Pick<KeyboardEvent, "key" | "code">} event
 */
export function typed(event) {
  const { key } = event;
  if (key.length !== 1) return key;
  const letter = key > "\u007f" && /^Key([A-Z])$/.exec(event.code);
  return (letter ? letter[1] : key).toLowerCase();
}

/**
 * The name of a key: digits by position, so that they work with Shift and on every layout; letters by what
 * they type.
 *
 * @param {Pick<KeyboardEvent, "key" | "code">} event
 */
export function keyName(event) {
  if (event.key === "?") return "?";
  const digit = /^Digit([0-9])$/.exec(event.code);
  if (digit) return digit[1];
  return event.key === "Backspace" ? "u" : typed(event);
}

// Swipes on a yes/no question: right is yes, left is no. A swipe clicks the buttons, which remain.

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

/** Elements that handle Enter themselves if focused. */
const HAS_ENTER = "a[href], button, summary, audio, [role=button], [role=tab], [role=option]";

/** Elements that handle the arrow keys themselves if focused. */
const HAS_ARROWS =
  "audio, video, .scroll, .reading, [role=tab], [role=slider], [role=option], [role=menuitem], [role=radio], [role=grid]";

/**
 * Seconds that an arrow key moves in a recording.
 *
 * @type {Record<string, number>}
 */
const SEEKS = { ArrowLeft: -0.5, ArrowRight: 0.5 };

/**
 * @param {State} state
 * @param {KeyboardEvent} event
 */
export function onKey(state, event) {
  if (!(event instanceof KeyboardEvent)) return; // form autofill sends a keydown without a key
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const path = event.composedPath();
  const typing = path.some(typesText);
  const take = () => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  const dialog = state.dialog?.open ? state.dialog : null;
  const { question } = state.data;
  const name = keyName(event);
  // In a batch each tile has its letter, so a key pressed while waiting was meant for the tiles on screen.
  if (!typing && !roomOf(state).whole && keepForNext(state, event, name)) {
    take();
    return;
  }
  if (event.key === "Escape") {
    if (dialog) return; // it closes itself
    const note = /** @type {HTMLElement | null} */ (state.holder.querySelector(".note"));
    if (note && path.includes(note)) {
      take();
      note.blur();
    } else if (question && roomOf(state).escape?.(state)) take();
    return;
  }
  if (typing) return;
  // A held Enter would press the focused key again at every following question.
  if (event.key === "Enter" && event.repeat && (path.includes(state.holder) || path.includes(state.over))) {
    take();
    return;
  }
  if (dialog) {
    if (dialog.keys?.(typed(event), event)) take();
    else if (event.key.length === 1 && event.key !== " ") event.stopImmediatePropagation();
    return;
  }
  const enter = event.key === "Enter" && (question ? roomOf(state).entering?.(state, question) : offered(state));
  if (enter) {
    const other = path.find((node) => node instanceof Element && node.matches(HAS_ENTER));
    if (other instanceof Element && !other.matches(".choice, .tick")) return; // Enter belongs to that element
    take();
    if (!event.repeat) enter();
    return;
  }
  if (name.startsWith("Arrow") && path.some((node) => node instanceof Element && node.matches(HAS_ARROWS))) return;
  const does = commandOf(state, event, name);
  if (does) {
    take();
    if (!event.repeat) does();
  } else if (name === "c" || name === "r") {
    event.stopImmediatePropagation(); // Streamlit would clear its caches, or rerun the page
  }
}

/**
 * Without a question: Enter clicks the offer's button.
 *
 * @param {State} state
 */
function offered({ holder }) {
  /** @type {HTMLElement | null} */
  const button = holder.querySelector(".offer");
  return button && (() => button.click());
}

/**
 * Action of this key on the current card, null if none.
 *
 * @param {State} state
 * @param {KeyboardEvent} event
 * @param {string} name of the key
 */
function commandOf(state, event, name) {
  const { question } = state.data;
  const own = question && roomOf(state).command?.(state, question, event, name);
  if (own) return own;
  /** @type {HTMLElement | null} */
  const guidelines = document.querySelector(".st-key-winnow_guidelines summary");
  if (name === "g" && guidelines && !event.shiftKey) return () => guidelines.click();
  // Some keyboards type signs with Shift, such as the full stop on a French one.
  const shifted = event.shiftKey && name !== "?" && name !== ".";
  const button = buttonOf(state, name, shifted ? "data-shift" : "data-key");
  if (button) return () => button.click();
  const sound = soundOf(state.holder);
  return sound && name in SEEKS && !event.shiftKey ? () => seek(sound, SEEKS[name]) : null;
}
