// Pure: recognises the horizontal rules that the CLI draws.

/** `────…` or `▔▔▔▔…` from the first column to the last: drawn above a dialog and around the input box. */
export function isFullRule(text: string, columns: number): boolean {
  return text.length === columns && /^(─+|▔+)$/u.test(text);
}

/** `──── History 1/1 ───` or `──── name of the session ─`, from the first column to the last. */
export function isTitledRule(text: string, columns: number): boolean {
  return text.length === columns && /^───.*─$/u.test(text);
}

/** `╌╌╌╌…` across the screen: drawn around a command or a file's text. */
export function isDashedRule(text: string, columns: number): boolean {
  return text.length === columns && /^╌+$/u.test(text);
}

/** Any line that consists only of the strokes of a rule. */
export function isRuleLike(text: string): boolean {
  return /^\s*[─▔╌]{8,}\s*$/u.test(text);
}
