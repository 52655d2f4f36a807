import { oneLine } from '../../../../src/base/text/text.js';
import { shownCharacters } from '../../../../src/base/text/unseen-characters.js';
import type { TerminalState } from '../../../../src/board/protocol.js';
import type { TaskCard } from '../../../../src/board/state.js';

const MAX_TITLE_CHARS = 40;
const MAX_LINE_CHARS = 500;
const SHORT_ID_CHARS = 9;
const ONLY_WATCHES = ' (only watching)';

/** What a terminal of a task is to the person. */
export type TerminalMode =
  | { readonly how: 'connecting' | 'lost' | 'writing' | 'closed' }
  /** `writer`: the page that types; null for none. */
  | { readonly how: 'watching'; readonly writer: string | null };

/** As the board last described it. */
export function modeOf(
  isConnected: boolean,
  state: Pick<TerminalState, 'writer' | 'closed'> | undefined,
  client: string,
): TerminalMode {
  if (state !== undefined && state.closed !== null) return { how: 'closed' };
  if (!isConnected) return { how: 'lost' };
  if (state === undefined) return { how: 'connecting' };
  return state.writer === client ? { how: 'writing' } : { how: 'watching', writer: state.writer };
}

/** The title of the terminal. `card` is undefined before the overview is there. */
export function titleOf(taskId: string, card: TaskCard | undefined, mode: TerminalMode): string {
  return `${summaryOf(taskId, card)}${suffixOf(mode, card)}`;
}

/** The prompt, or for want of it the beginning of the id. */
export function summaryOf(taskId: string, card: TaskCard | undefined): string {
  const summary = oneLine(shownCharacters(card?.prompt_summary ?? ''), MAX_TITLE_CHARS).trim();
  return summary === '' ? taskId.slice(0, SHORT_ID_CHARS) : summary;
}

function suffixOf(mode: TerminalMode, card: TaskCard | undefined): string {
  switch (mode.how) {
    case 'connecting':
      return ONLY_WATCHES;
    case 'lost':
      return ' (not connected)';
    case 'writing':
      return '';
    case 'watching':
      return mode.writer === null ? ONLY_WATCHES : ` (${mode.writer} types)`;
    case 'closed':
      return card?.is_final === true ? ' (ended)' : ' (no terminal)';
  }
}

/** Asks whether this window is to type. */
export function claimQuestion(writer: string | null): string {
  return writer === null
    ? 'Type into this terminal? What you type goes to Claude Code.'
    : `${writer} types into this terminal. Type here instead? What you type goes to Claude Code.`;
}

/** Why there is nothing to see; `why` is of the board. */
export function closedWords(why: string, card: TaskCard | undefined): string {
  if (card?.driver !== 'print' || card.is_final) return why;
  return 'The task runs with the print driver, which has no terminal. The board shows its log.';
}

/** Of a task that has ended. */
export function endWords({ status, reason }: TaskCard): string {
  return `The task has ended, ${status}: ${reason}`;
}

/** A line of the editor's own below the screen, which stays. */
export function noteLine(text: string): string {
  return `\x1b[r\x1b[?25h\x1b[999;1H\r\n\x1b[0;2m${oneLine(shownCharacters(text), MAX_LINE_CHARS)}\x1b[0m\r\n`;
}
