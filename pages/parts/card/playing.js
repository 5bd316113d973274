// @ts-check
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
