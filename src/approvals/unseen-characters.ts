// Pure: characters that a person does not see.

/** Terminals, editors and shells disagree about these; a person sees one line where the shell sees another. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u2064\u2066-\u206f\ufeff]/;

/** True for a text of which a person would not see all. */
export function hasUnseen(text: string): boolean {
  return UNSEEN.test(text);
}

/** `text` with an escape in place of each character that a person does not see. */
export function shownCharacters(text: string): string {
  return text.replace(
    new RegExp(UNSEEN, 'g'),
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
