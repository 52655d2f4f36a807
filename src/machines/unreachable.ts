// Pure: the error for a machine that cannot be reached.
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';

/** Whether the far side may have acted on a request that has no answer. */
export type Sent = 'not_sent' | 'unknown';

const MAX_WHY_CHARS = 500;

const NEXT: Readonly<Record<Sent, string>> = {
  not_sent: 'Nothing was sent (not_sent).',
  unknown:
    'The request was sent, and its answer is not known (unknown): it may still be done when the line is back. See what is so there then, before you repeat it.',
};

/** MACHINE_UNREACHABLE. `why`: foreign words. `sinceMs`: when a line that was open was cut; left out, none could be opened. */
export function unreachable(machine: string, sent: Sent, why: string, sinceMs?: number): BridgeError {
  const words = oneLine(why, MAX_WHY_CHARS).replace(/\.$/u, '');
  const message =
    sinceMs === undefined
      ? `The line to ${machine} cannot be opened: ${words}.`
      : `The line to ${machine} is cut since ${timeOfDay(sinceMs)}: ${words}. What runs there runs on.`;
  return failure(machine, sent, message, words);
}

/** MACHINE_UNREACHABLE while the line is open. `words`: what the machine has done, such as "has not answered in time". */
export function unanswered(machine: string, sent: Sent, words: string): BridgeError {
  return failure(machine, sent, `${machine} ${words}.`, words);
}

function failure(machine: string, sent: Sent, message: string, why: string): BridgeError {
  const doctor = `\`claude-code-bridge machines doctor ${machine}\` shows what is wrong.`;
  return new BridgeError('MACHINE_UNREACHABLE', message, [NEXT[sent], doctor], {
    data: { machine, sent, why },
  });
}

/** `14:02`, of this clock. */
function timeOfDay(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 5);
}
