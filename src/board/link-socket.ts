import { createServer, request, type Server } from 'node:http';
import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { linkAnswerSchema, type BoardLink } from './board-place.js';

const OWNER_ONLY_MASK = 0o077;
const ANSWER_LIMIT_MS = 5_000;
const MAX_ANSWER_BYTES = 4_096;
const LINK_PATH = '/link';

/** Serves links on a Unix socket in a folder of this user alone: each has a code that is good once, for a minute. */
export async function serveLinks(
  socketPath: string,
  link: () => BoardLink,
): Promise<{ close(): Promise<void> }> {
  // Only the holder of the board's lock comes here: what is there was left by one that was killed.
  await rm(socketPath, { force: true });
  const server = createServer((asked, answer) => {
    asked.resume();
    const isLink = asked.method === 'POST' && asked.url === LINK_PATH;
    answer.writeHead(isLink ? 200 : 404, { 'content-type': 'application/json', connection: 'close' });
    answer.end(isLink ? JSON.stringify(link()) : '{}');
  });
  const mask = process.umask(OWNER_ONLY_MASK);
  try {
    await listen(server, socketPath);
  } finally {
    process.umask(mask);
  }
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Asks the board for a link; undefined when no board listens there. Throws STATE_UNUSABLE when one does not answer. */
export async function askForLink(socketPath: string): Promise<BoardLink | undefined> {
  let text: string;
  try {
    text = await post(socketPath);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET') return undefined;
    throw unanswered(socketPath, error);
  }
  const answer = z.preprocess((given) => parsed(given), linkAnswerSchema).safeParse(text);
  if (!answer.success) throw unanswered(socketPath, answer.error);
  return answer.data;
}

function post(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asking = request(
      { socketPath, path: LINK_PATH, method: 'POST', timeout: ANSWER_LIMIT_MS },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          text += part;
          if (text.length > MAX_ANSWER_BYTES) answer.destroy(new Error('the answer is too long'));
        });
        answer.on('error', reject);
        answer.on('end', () => resolve(text));
      },
    );
    asking.on('timeout', () => asking.destroy(new Error('it did not answer within 5 s')));
    asking.on('error', reject);
    asking.end();
  });
}

function listen(server: Server, socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, () => resolve());
  });
}

function parsed(given: unknown): unknown {
  try {
    return JSON.parse(String(given));
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
