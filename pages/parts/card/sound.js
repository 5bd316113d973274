// @ts-check
// The recording of a row: its spectrogram and player. It plays the row's segment; a click outside plays
// beyond it.

import { key, make } from "./elements.js";
import { spectrogram } from "./spectrogram.js";
import { isOn, setOn } from "./state.js";
import { lengthWords, spanWords } from "./words.js";

/** @import { View } from "./types.js" */

// Only one recording plays at a time.

/** @type {HTMLAudioElement | null} */
let playing = null;

/**
 * Pauses the recording that plays when this one starts.
 *
 * @param {HTMLAudioElement} audio
 */
export function alone(audio) {
  audio.addEventListener("play", () => {
    if (playing !== audio) playing?.pause();
    playing = audio;
  });
  return audio;
}

/** Names under which the browser stores how sound is shown and played. */
const LOG = "sound-log";
const LOOP = "sound-loop";
const HALF = "sound-half";
const BY_ITSELF = "sound-by-itself";

/** Whether frequencies have a logarithmic scale. */
export const isLog = () => isOn(LOG);

/**
 * Where playback stops: at the end of the segment, unless it began beyond it.
 *
 * @param {number} now
 * @param {number | null} end
 */
export const stopsAt = (now, end) => (end !== null && now < end - 0.02 ? end : Number.POSITIVE_INFINITY);

/**
 * @param {View} view a row with a recording
 * @param {{ keyed: boolean, eager?: boolean }} how keyed: the card listens for keys, and plays automatically if that is
 * wanted. eager: it is loaded before it is played
 */
export function sound(view, { keyed, eager = true }) {
  const [start, end] = [view.segment?.[0] ?? 0, view.segment?.[1] ?? null];
  const audio = alone(
    make("audio", {
      class: "sound",
      preload: eager ? "auto" : "none",
      src: view.audio,
      "aria-label": `Recording of row ${view.id}`,
    }),
  );
  audio.currentTime = start; // works before anything is loaded
  audio.preservesPitch = false; // half speed is an octave lower, as on tape: no artefacts of time stretching
  let until = stopsAt(start, end);
  let isDone = false;

  const time = make("time", { class: "quiet" });
  const told = make("p", { class: "small quiet", role: "status", hidden: true });
  const about = make("span", { text: spanWords(view.segment, null) });
  const picture = spectrogram(view, {
    drawn: (edges) => {
      const isPart = !view.segment && edges.t1 < edges.seconds - 0.5;
      const drawn = isPart ? ` · the first ${lengthWords(edges.t1 - edges.t0)} are drawn` : "";
      about.textContent = spanWords(view.segment, edges.seconds) + drawn;
      show();
    },
    missing: (words) => {
      picture.element.remove();
      audio.controls = true; // offers a position slider
      tell(`No picture of this sound: ${words}`);
    },
    sought: (second) => {
      audio.currentTime = second;
    },
  });

  /** @param {string} words */
  function tell(words) {
    told.textContent = words;
    told.hidden = false;
  }
  const play = () => {
    if (isDone || audio.ended) audio.currentTime = start;
    audio.play().catch(() => {}); // browsers may forbid playback without a click
  };
  const again = () => {
    audio.currentTime = start;
    play();
  };
  function show() {
    picture.place(audio.currentTime);
    const last = end ?? audio.duration;
    time.textContent = `${audio.currentTime.toFixed(1)} / ${Number.isFinite(last) ? last.toFixed(1) : "–"} s`;
  }
  function step() {
    if (!audio.paused && audio.currentTime >= until) {
      if (isOn(LOOP)) audio.currentTime = start;
      else {
        audio.pause();
        isDone = true;
      }
    }
    show();
  }
  function follow() {
    if (!audio.isConnected) audio.pause();
    if (audio.paused) return;
    step();
    requestAnimationFrame(follow);
  }
  const name = (/** @type {string} */ one) => (keyed ? { "data-key": one, "aria-keyshortcuts": one } : {});
  const go = make(
    "button",
    {
      class: "tool go",
      type: "button",
      "aria-label": "Play",
      ...name("p"),
      onclick: () => (audio.paused ? play() : audio.pause()),
    },
    make("span", { class: "sign" }),
    keyed && key("P"),
    make("span", { class: "says", text: "Play" }),
  );
  const showPlaying = () => {
    const words = audio.paused ? "Play" : "Pause";
    go.classList.toggle("playing", !audio.paused);
    go.setAttribute("aria-label", words);
    go.querySelector(".says")?.replaceChildren(words);
  };
  /** @type {(on: string, its: string, text: string, title: string, changed: () => void) => HTMLElement} */
  const toggle = (on, its, text, title, changed) => {
    const button = make(
      "button",
      {
        class: "tool",
        type: "button",
        title,
        "aria-pressed": String(isOn(on)),
        ...(its ? name(its) : {}),
        onclick: () => {
          setOn(on, !isOn(on));
          button.setAttribute("aria-pressed", String(isOn(on)));
          changed();
        },
      },
      keyed && its && key(its === "-" ? "−" : its.toUpperCase()),
      make("span", { text }),
    );
    return button;
  };
  const setRate = () => {
    audio.playbackRate = audio.defaultPlaybackRate = isOn(HALF) ? 0.5 : 1;
  };

  Object.assign(audio, {
    onplay: () => {
      showPlaying();
      follow();
    },
    onpause: showPlaying,
    ontimeupdate: step, // also while the page is not painted
    onloadedmetadata: show,
    onseeking: () => {
      isDone = false;
      until = stopsAt(audio.currentTime, end);
      show();
    },
    onended: () => {
      if (isOn(LOOP)) again();
    },
    onerror: () => tell("This browser cannot play the recording."),
  });
  const element = make(
    "div",
    { class: "recording" },
    picture.element,
    audio,
    make(
      "div",
      { class: "player", role: "group", "aria-label": "Player" },
      go,
      make(
        "button",
        { class: "tool", type: "button", title: "From the start", ...name("r"), onclick: again },
        keyed && key("R"),
        make("span", { text: "Again" }),
      ),
      toggle(LOOP, "l", "Loop", "Repeat", () => {}),
      toggle(HALF, "-", "Half speed", "Twice as long, an octave lower", setRate),
      time,
    ),
    told,
  );
  const settings = make(
    "span",
    { class: "settings" },
    toggle(LOG, "", "Log scale", "More room for low frequencies", () => picture.draw(isLog())),
    keyed && toggle(BY_ITSELF, "", "Autoplay", "Each recording plays as soon as it is asked about", () => {}),
  );
  setRate();
  show();
  picture.draw(isLog());
  if (keyed && isOn(BY_ITSELF)) play();
  return { element, caption: [about, settings], play };
}

/**
 * The recording drawn there, null if there is none.
 *
 * @param {ParentNode} holder
 * @returns {HTMLAudioElement | null}
 */
export const soundOf = (holder) => holder.querySelector(".sound");

/**
 * Releases the recordings drawn there before they are replaced: a removed player holds its connection to the
 * server until garbage collection, and a browser allows six.
 *
 * @param {ParentNode} holder
 */
export function letGo(holder) {
  for (const audio of /** @type {NodeListOf<HTMLAudioElement>} */ (holder.querySelectorAll(".sound"))) {
    audio.pause();
    audio.removeAttribute("src");
    audio.load();
  }
}

/**
 * @param {HTMLAudioElement} audio
 * @param {number} seconds forward; negative: backward
 */
export function seek(audio, seconds) {
  audio.currentTime = Math.max(0, audio.currentTime + seconds);
}
