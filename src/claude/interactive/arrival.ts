// Pure: whether a prompt that Claude Code reports is the message that was typed.

/**
 * `changed`: the terminal changed characters that are not seen, as it does with tabs, carriage returns and most characters without width
 * (2.1.330, 2.1.332). A long text comes in a frame of Claude Code's own, `<pasted_content>`. `other`: somebody else's prompt.
 */
export function arrivalOf(prompt: string, text: string): 'exact' | 'changed' | 'other' {
  if (prompt.includes(text.trim())) return 'exact';
  return seen(prompt).includes(seen(text)) ? 'changed' : 'other';
}

/** Without white space and characters that have no width or no meaning. */
function seen(text: string): string {
  return text.replace(/[\s\p{C}]/gu, '');
}
