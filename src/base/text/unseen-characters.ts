// Pure: finds and escapes characters that a person does not see. The board's page shares this file, so it imports nothing.

/** Terminals, editors and shells disagree about these: a person may see another line than the shell. U+2800 looks blank. */
const UNSEEN_CHARACTER =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202f\u2800\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
/** Visible as part of an emoji: a variation selector after it, and a joiner between two. */
const PART_OF_EMOJI =
  /(?<=\p{Extended_Pictographic})\ufe0f|(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d(?=\p{Extended_Pictographic})/u;
const UNSEEN = new RegExp(`(?!${PART_OF_EMOJI.source})${UNSEEN_CHARACTER.source}`, 'u');
const ALL_UNSEEN = new RegExp(UNSEEN, 'gu');
const LAST_OF_FOUR_DIGITS = 0xffff;

/** True when a person would not see all of the text. */
export function hasUnseen(text: string): boolean {
  return UNSEEN.test(text);
}

/** `text` with each unseen character escaped. */
export function shownCharacters(text: string): string {
  return text.replace(ALL_UNSEEN, escapeOf);
}

function escapeOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  return code > LAST_OF_FOUR_DIGITS ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`;
}
