// @ts-check
// Many rows at once: tiles of rows that are confirmed together, except the excluded ones.

import { actionButton, answerGroup, backButtons } from "../card/actions.js";
import { find, key, make, percentOf } from "../card/elements.js";
import { features } from "../card/instance.js";
import { closeButton, openDialog, openKeys } from "../card/panels.js";
import { openZoom } from "../card/pictures.js";
import { press } from "../card/posting.js";
import { contexts, reading, textsOf } from "../card/reading.js";
import { sound } from "../card/sound.js";
import { activeIn } from "../card/state.js";

/** @import { Room, State } from "../card/types.js" */
/** @import { BatchQuestion, Tile } from "./types.js" */

// One tile of the rows that are confirmed together: a summary of the row, on the button that excludes it.

/** Features that a tile shows; the zoomed view has all. */
const FEW = 6;

/**
 * @param {Tile} tile
 * @param {string} label of the batch
 * @param {boolean} out whether the row is excluded
 * @param {{ take: (out: boolean) => void, closer: () => void }} does take: excludes or includes the row; closer: opens the zoomed view
 */
export function drawTile({ key: its, row, share, view }, label, out, does) {
  const percent = `${percentOf(share)}%`;
  const about = `tile-${row}`;
  const tick = make(
    "button",
    {
      class: "tick",
      type: "button",
      "data-key": its,
      "data-row": row,
      "aria-keyshortcuts": its || null,
      "aria-pressed": String(out),
      "aria-label": `Exclude row ${view.id}; the model's share of ${label} is ${percent}`,
      // The aria-label replaces the button's content, which is therefore read as its description.
      "aria-describedby": about,
      onclick: () => does.take(tick.getAttribute("aria-pressed") !== "true"),
    },
    make(
      "span",
      { class: "corner" },
      its ? key(its.toUpperCase()) : make("span"),
      make("span", { class: "out-words", text: "asked alone" }),
      make("span", { class: "share", text: percent }),
    ),
    content(view, about),
  );
  const nearer = make("button", {
    class: "closer",
    type: "button",
    text: "⤢",
    "aria-label": `Enlarge row ${view.id}`,
    title: "Zoom (Z)",
    onclick: does.closer,
  });
  const player = view.audio && sound(view, { keyed: false, eager: false }).element;
  return make("div", { class: view.audio && !view.images.length ? "tile heard" : "tile" }, tick, player, nearer);
}

/**
 * A summary of a row.
 *
 * @param {Tile["view"]} view
 * @param {string} id of the element
 */
function content(view, id) {
  if (view.images.length) {
    const alt = ["Image", ...view.caption.map((pair) => pair.join(": "))].join(", ");
    return make("img", { class: "seen", id, src: view.images[0], alt, decoding: "async" });
  }
  if (view.texts.length) {
    const texts = textsOf(view, (text) => make("span", { class: "said", dir: "auto", text }));
    return make("span", { class: "read", id }, ...contexts(view), ...texts);
  }
  if (view.audio) return make("span", { id, hidden: true, text: "A recording: P plays it" });
  const few = view.features
    .slice(0, FEW)
    .map(([name, value]) =>
      make(
        "span",
        { class: "feature" },
        make("span", { class: "quiet", text: name }),
        " ",
        make("span", { text: value || "–" }),
      ),
    );
  return make("span", { class: "few", id }, make("span", { class: "quiet", text: `Row ${view.id}` }), ...few);
}

/**
 * Numbers of the rows excluded since the person opened the grid. They are stored by row number: the card is
 * redrawn after every response, even a refusal, when rows may be gone and letters may have moved.
 *
 * @type {WeakMap<State, Set<number>>}
 */
const alone = new WeakMap();

/**
 * Opens the grid, with nothing excluded.
 *
 * @param {State} state
 */
export function openBatch(state) {
  alone.delete(state);
  press(state, null, "many", []);
}

/** @type {Room<BatchQuestion>} */
export const batch = {
  keys: [
    ["A, B, C …", "Exclude this row, or include it again: an excluded row stays open and is asked about alone"],
    ["Arrows", "Move the frame"],
    ["Space", "Exclude the framed row, or include it again"],
    ["Enter", "Store the label for all rows that are not excluded"],
    ["Z", "Zoom into the framed row"],
    ["P", "Play the framed row's recording, or pause it"],
    ["U / Shift + U", "Undo, redo: a whole batch at once"],
    ["Esc", "Back to one row at a time"],
    ["?", "This sheet"],
  ],
  bare: true,
  whole,
  actions,
  drawn: (state) => {
    const active = activeIn(state);
    if (active && active !== document.body && !state.holder.contains(active)) return;
    ticks(state)[0]?.focus({ preventScroll: true });
  },
  command: (state, question, event, name) => {
    const step = event.shiftKey ? undefined : stepOf(state, event.key);
    if (step !== undefined) return () => move(state, step);
    if (event.shiftKey) return null;
    if (name === "z") return () => closer(state, question, framed(state));
    if (name === "p" && question.tiles.some(({ view }) => view.audio)) return () => play(state);
    /** @type {HTMLElement | null} */
    const tick = state.holder.querySelector(`.tick[data-key="${CSS.escape(name)}"]`);
    return tick && (() => tick.click());
  },
  entering: (state, question) => () => confirm(state, question),
  escape: (state) => {
    press(state, null, "one", []);
    return true;
  },
};

/**
 * @param {State} state
 * @param {BatchQuestion} question
 */
function whole(state, question) {
  const grid = make(
    "div",
    { class: "tiles", role: "group", "aria-label": `Rows that may all be ${question.label}` },
    ...question.tiles.map((tile, place) => {
      const out = takenOut(state, question).includes(tile.row);
      return drawTile(tile, question.label, out, {
        take: (again) => takeOut(state, question, [tile], again),
        closer: () => closer(state, question, place),
      });
    }),
  );
  // Only one recording plays at a time.
  grid.addEventListener(
    "play",
    ({ target }) => {
      for (const audio of grid.querySelectorAll("audio")) if (audio !== target) audio.pause();
    },
    true,
  );
  return make(
    "section",
    { class: "batch", "aria-label": "Many rows at once" },
    make(
      "div",
      { class: "asked" },
      make("h2", { text: question.asks }),
      make("p", { class: "quiet small checked", text: question.checked }),
    ),
    question.about && make("p", { class: "about", text: question.about }),
    make("p", { class: "quiet small", text: question.why }),
    grid,
  );
}

/** @param {State} state */
const ticks = ({ holder }) => /** @type {HTMLElement[]} */ ([...holder.querySelectorAll(".tick")]);

/**
 * Index of the tile that has the focus; else the first.
 *
 * @param {State} state
 */
function framed(state) {
  const active = activeIn(state);
  return Math.max(
    0,
    ticks(state).findIndex((tick) => tick.parentElement?.contains(active)),
  );
}

/**
 * Number of tiles that an arrow key moves.
 *
 * @param {State} state
 * @param {string} name
 */
function stepOf({ holder }, name) {
  if (!name.startsWith("Arrow")) return undefined;
  const grid = holder.querySelector(".tiles");
  const columns = grid ? getComputedStyle(grid).gridTemplateColumns.split(" ").length : 1;
  return { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[name];
}

/**
 * @param {State} state
 * @param {number} step
 */
function move(state, step) {
  ticks(state)[framed(state) + step]?.focus();
}

/** @param {State} state */
function play(state) {
  /** @type {HTMLElement | null | undefined} */
  const button = ticks(state)[framed(state)]?.parentElement?.querySelector(".go");
  button?.click();
}

/**
 * The excluded rows on screen.
 *
 * @param {State} state
 * @param {BatchQuestion} question
 */
const takenOut = (state, { tiles }) => tiles.map(({ row }) => row).filter((row) => alone.get(state)?.has(row));

/**
 * Excludes these rows, or includes them again.
 *
 * @param {State} state
 * @param {BatchQuestion} question
 * @param {Tile[]} tiles
 * @param {boolean} out
 */
function takeOut(state, question, tiles, out) {
  const rows = alone.get(state) ?? new Set();
  alone.set(state, rows);
  for (const { row } of tiles) {
    if (out) rows.add(row);
    else rows.delete(row);
    state.holder.querySelector(`.tick[data-row="${row}"]`)?.setAttribute("aria-pressed", String(out));
  }
  find(state.holder, ".confirm span").textContent = countWords(state, question);
}

/**
 * Text of the confirm button.
 *
 * @param {number} total
 * @param {number} out
 * @param {string} label
 */
export function confirmWords(total, out, label) {
  const left = total - out;
  const alone = out === 1 ? "1 is asked alone" : `${out} are asked alone`;
  if (!left) return total === 1 ? "It is asked alone" : `All ${total} are asked alone`;
  const stored = left === 1 ? `1 is ${label}` : `${left} are ${label}`;
  return out ? `${stored}, ${alone}` : stored;
}

/**
 * @param {State} state
 * @param {BatchQuestion} question
 */
const countWords = (state, question) =>
  confirmWords(question.tiles.length, takenOut(state, question).length, question.label);

/**
 * @param {State} state
 * @param {BatchQuestion} question
 */
function confirm(state, question) {
  press(state, state.holder.querySelector(".confirm"), "confirm", takenOut(state, question).map(String));
}

/**
 * Opens the whole row over the grid.
 *
 * @param {State} state
 * @param {BatchQuestion} question
 * @param {number} place
 */
function closer(state, question, place) {
  const { view } = question.tiles[place];
  const back = () => ticks(state)[place]?.focus({ preventScroll: true });
  if (view.images.length) {
    openZoom(state, {
      images: view.images,
      boxes: view.boxes,
      place: 0,
      name: `Image of row ${view.id}`,
      show: () => {},
    });
  } else {
    const dialog = openDialog(
      state,
      "nearer",
      `Row ${view.id}`,
      make("h2", { text: `Row ${view.id}` }),
      view.audio && sound(view, { keyed: false }).element,
      ...contexts(view),
      ...reading(view),
      ...(view.features.length ? features(view, null) : []),
      make(
        "div",
        { class: "row" },
        closeButton(() => dialog.close()),
      ),
    );
    dialog.keys = (name) => {
      if (name !== "z") return false;
      dialog.close();
      return true;
    };
  }
  state.dialog?.addEventListener("close", back);
}

/**
 * @param {State} state
 * @param {BatchQuestion} question
 */
function actions(state, question) {
  const { tiles } = question;
  const all = () => takeOut(state, question, tiles, takenOut(state, question).length < tiles.length);
  const group = answerGroup(
    make(
      "button",
      {
        class: "action strong confirm",
        type: "button",
        "aria-keyshortcuts": "Enter",
        onclick: () => confirm(state, question),
      },
      key("↵"),
      make("span", { text: countWords(state, question) }),
    ),
    make("button", {
      class: "action desk",
      type: "button",
      text: "Exclude all",
      title: "Or include all again",
      onclick: all,
    }),
    actionButton("Escape", "One by one", () => press(state, null, "one", []), {
      title: "Back to one row at a time; these stay open",
    }),
    ...backButtons(state),
    actionButton("?", "Keys", () => openKeys(state), { class: "action desk", "aria-haspopup": "dialog" }),
  );
  const cap = group.querySelector('[data-key="Escape"] kbd');
  if (cap) cap.textContent = "Esc";
  return group;
}
