import { createSecret } from '../base/ids.js';
import { escapedUnsafe } from '../base/text.js';

/** Before each control character that this program writes. A text from elsewhere cannot contain it. */
const MARK = createSecret();

/** A control sequence of this program, which `terminalText` passes. */
export function ownSequence(sequence: string): string {
  return sequence.replace(/[\u0000-\u001f]/g, (control) => `${MARK}${control}`);
}

/** What an output gets: of control characters it has line feeds, tabs and those of `ownSequence`; others are shown as escapes. */
export function terminalText(text: string): string {
  const [first = '', ...others] = text.split(MARK);
  return shown(first) + others.map((part) => part.slice(0, 1) + shown(part.slice(1))).join('');
}

function shown(text: string): string {
  return text.split('\n').map(escapedUnsafe).join('\n');
}
