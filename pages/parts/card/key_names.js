// @ts-check
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
