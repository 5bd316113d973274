// @ts-check
// Name of a key, whatever the keyboard's layout.

/**
 * Text that a key types; where that is no Latin letter (я, ω, ש), the letter that is in its place.
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
 * The name of a key: digits by their place, so that Shift and every layout leave them digits; letters by what they type.
 *
 * @param {Pick<KeyboardEvent, "key" | "code">} event
 */
export function keyName(event) {
  if (event.key === "?") return "?";
  const digit = /^Digit([0-9])$/.exec(event.code);
  if (digit) return digit[1];
  return event.key === "Backspace" ? "u" : typed(event);
}
