// @ts-check
// The images of one row, shown one at a time: their order and names.

/**
 * The image this many steps on; the first follows the last.
 *
 * @param {number} place from 0
 * @param {number} steps
 * @param {number} count
 */
export const turned = (place, steps, count) => (((place + steps) % count) + count) % count;

/**
 * @param {number} place from 0
 * @param {number} count
 */
export const placeWords = (place, count) => `${place + 1} of ${count} pictures`;

/**
 * Alternative text of an image.
 *
 * @param {string} name
 * @param {number} place from 0
 * @param {number} count
 */
export const nameOf = (name, place, count) => (count === 1 ? name : `${name}, ${placeWords(place, count)}`);

/** Brightness factors of an image, in turn; then the first again. */
const LIGHTS = [1, 1.5, 2.2, 3.3];

/** @param {number} light one of LIGHTS */
export const brighter = (light) => LIGHTS[turned(LIGHTS.indexOf(light), 1, LIGHTS.length)];
