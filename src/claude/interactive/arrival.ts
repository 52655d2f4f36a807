// Pure: a text on its way through Claude Code's input box.
import { withoutControl, withoutUnseen } from '../../base/text/text.js';

/** How Claude Code frames a long text that was pasted. */
const PASTED = /^<pasted_content[^>]*>\n([^]*)\n<\/pasted_content>\s*$/;
/** Of pictures a terminal holds the joiners and the selectors of their form. */
const DROPPED = /(?!\s|\u200d|\ufe0f)[\p{C}\p{Default_Ignorable_Code_Point}]/gu;
/** How the prompt begins by which Claude Code tells the agent of the end of a program in the background (2.1.330, 2.1.332). */
const OWN_PROMPT = '<task-notification>';

/**
 * What is typed for a text: no escapes, which would act as keys and end the paste, and nothing that the terminal drops, which may keep
 * Enter from sending it (2.1.332). After a blank, `!` does not change the mode of the box; with a blank at the end, no list of names is
 * open (`@`), and no `\\` turns Enter into a new line.
 */
export function asTyped(text: string): string {
  const seen = withoutControl(text.replaceAll('\r\n', '\n'))
    .replace(DROPPED, '')
    .replace(/^(?:\s|\u200d|\ufe0f)+/u, '');
  return `${seen.startsWith('!') ? ' ' : ''}${seen} `;
}

/**
 * `exact`: the prompt is the text, but for white space at its end, which Claude Code does not pass on. `changed`: it is what became of the
 * text, such as another normal form, or `[Image #1]` for the path of one. `isSole`: no person has typed meanwhile, so that nothing else
 * than the text can have become a prompt, unless Claude Code speaks.
 */
export function arrivalOf(prompt: string, text: string, isSole: boolean): 'exact' | 'changed' | 'other' {
  if ((PASTED.exec(prompt)?.[1] ?? prompt).trimEnd() === text.trimEnd()) return 'exact';
  if (isSole && !prompt.startsWith(OWN_PROMPT)) return 'changed';
  return bare(prompt).includes(bare(text)) ? 'changed' : 'other';
}

function bare(text: string): string {
  return withoutUnseen(text).normalize('NFC').replace(/\s/g, '');
}
