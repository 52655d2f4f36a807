import { request } from 'node:http';
import { z } from 'zod';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { errorFromWire, wireErrorSchema } from '../keeper/wire/wire-error.js';
import { linkAnswerSchema, type BoardLink } from './board-place.js';

/** Beyond the time that the board may take itself. */
const ANSWER_LIMIT_MS = 5_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Nobody listens there. */
const NO_BOARD: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ECONNREFUSED']);
/** The board ended, perhaps after it had done what it was asked to. */
const ENDED = 'ECONNRESET';

export interface LocalRequest<T> {
  readonly path: string;
  readonly body: object;
  readonly answer: z.ZodType<T>;
  /** How long the board waits itself before it answers. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /** True for what may be done twice. */
  readonly isRepeatable: boolean;
}

/** Asks the board for a link; undefined when no board listens there. Throws STATE_UNUSABLE when one does not answer. */
export function askForLink(socketPath: string): Promise<BoardLink | undefined> {
  return askBoard(socketPath, { path: '/link', body: {}, answer: linkAnswerSchema, isRepeatable: true });
}

/** Asks the board, which is of an older version, to end. */
export async function askToLeave(socketPath: string): Promise<void> {
  await askBoard(socketPath, { path: '/replace', body: {}, answer: z.object({}), isRepeatable: true });
}

/** Asks the board of this state directory; undefined when none listens. Throws the board's error, and STATE_UNUSABLE for no answer. */
export async function askBoard<T>(socketPath: string, asked: LocalRequest<T>): Promise<T | undefined> {
  let status: number;
  let text: string;
  try {
    ({ status, text } = await post(socketPath, asked));
  } catch (error) {
    const code = systemCodeOf(error);
    if (NO_BOARD.has(code) || (code === ENDED && asked.isRepeatable)) return undefined;
    throw unanswered(socketPath, error);
  }
  const given = parsed(text);
  const refused = status === 200 ? undefined : wireErrorSchema.safeParse(given);
  if (refused?.success === true) throw errorFromWire(refused.data);
  const answer = asked.answer.safeParse(given);
  if (!answer.success) throw unanswered(socketPath, answer.error);
  return answer.data;
}

function post(
  socketPath: string,
  { path, body, waitMs = 0, signal }: LocalRequest<unknown>,
): Promise<{ status: number; text: string }> {
  const limitMs = ANSWER_LIMIT_MS + waitMs;
  return new Promise((resolve, reject) => {
    const asking = request(
      { socketPath, path, method: 'POST', timeout: limitMs, ...(signal !== undefined && { signal }) },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          text += part;
          if (text.length > MAX_ANSWER_BYTES) answer.destroy(new Error('the answer is too long'));
        });
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    asking.on('timeout', () => asking.destroy(new Error(`it did not answer within ${limitMs / 1000} s`)));
    asking.on('error', reject);
    asking.end(JSON.stringify(body));
  });
}

function parsed(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    // The schema reports that it is no answer.
    return undefined;
  }
}

function unanswered(socketPath: string, cause: unknown): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `The board does not answer on its socket ${socketPath}.`,
    'End its process (board/board.json in the state directory names it) and open the board again.',
    { cause },
  );
}
