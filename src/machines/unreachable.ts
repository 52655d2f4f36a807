// Pure: the error for a machine that cannot be reached.
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';

/** Whether the far side may have acted on a request that has no answer. */
export type Sent = 'not_sent' | 'unknown';

const MAX_WHY_CHARS = 500;

const NEXT: Readonly<Record<Sent, string>> = {
  not_sent: 'Nothing was sent.',
  unknown: 'The request was sent, and its answer is not known: see what is so there before you repeat it.',
};

/** MACHINE_UNREACHABLE. `why`: foreign words. `since`: the time of day at which an open line was cut; left out, none was open. */
export function unreachable(machine: string, sent: Sent, why: string, since?: string): BridgeError {
  const words = oneLine(why, MAX_WHY_CHARS).replace(/\.$/u, '');
  const message =
    since === undefined
      ? `The line to ${machine} cannot be opened: ${words}.`
      : `The line to ${machine} is cut since ${since}: ${words}. What runs there runs on.`;
  const doctor = `\`claude-code-bridge machines doctor ${machine}\` shows what is wrong.`;
  return new BridgeError('MACHINE_UNREACHABLE', message, [NEXT[sent], doctor], {
    data: { machine, sent, why: words },
  });
}
