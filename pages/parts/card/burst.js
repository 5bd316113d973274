// @ts-check
// The pictures of one row, one at a time: which comes next, and what each is called.

/**
 * The picture this many steps on; after the last one comes the first.
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
 * Text for an image that is not seen.
 *
 * @param {string} name
 * @param {number} place from 0
 * @param {number} count
 */
export const nameOf = (name, place, count) => (count === 1 ? name : `${name}, ${placeWords(place, count)}`);

/** How much brighter a picture is shown, one step after the other; then as it is. */
const LIGHTS = [1, 1.5, 2.2, 3.3];

/** @param {number} light one of LIGHTS */
export const brighter = (light) => LIGHTS[turned(LIGHTS.indexOf(light), 1, LIGHTS.length)];
