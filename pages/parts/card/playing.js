// @ts-check
// One recording plays at a time.

/** @type {HTMLAudioElement | null} */
let playing = null;

/**
 * As soon as this one plays, the one that did is paused.
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
