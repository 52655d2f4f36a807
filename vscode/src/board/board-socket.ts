import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { boardPlace, discoverySchema, type BoardLink } from '../../../src/board/board-place.js';
import { askForLink } from '../../../src/board/local-client.js';
import { BOARD_PROTOCOL, type ClientMessage } from '../../../src/board/protocol.js';
import { readJsonFile } from '../../../src/base/files/json-file.js';

const ANSWER_LIMIT_MS = 10_000;
/** How others see who acted here. */
const CLIENT = 'vscode';
const tokenSchema = z.object({ token: z.string() });

/** A link to the board of a state directory; undefined when none runs. Throws STATE_UNUSABLE when one does not answer. */
export async function linkToRunningBoard(statePath: string): Promise<BoardLink | undefined> {
  const found = await readJsonFile(boardPlace(statePath, '').discoveryFile, discoverySchema);
  const socketPath = found.state === 'ok' ? found.value.socket_path : undefined;
  return socketPath === undefined ? undefined : askForLink(socketPath);
}

/**
 * A connection to the board that has said who it is. Its first message is the board's welcome. Throws when the board refuses the link,
 * or does not answer within `limitMs`.
 */
export async function openBoardSocket({ url }: BoardLink, limitMs = ANSWER_LIMIT_MS): Promise<WebSocket> {
  const { origin, host, hash } = new URL(url);
  const token = await exchange(origin, hash.slice('#code='.length), limitMs);
  const socket = new WebSocket(`ws://${host}/socket`, {
    origin,
    perMessageDeflate: false,
    handshakeTimeout: limitMs,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const hello: ClientMessage = { type: 'hello', v: BOARD_PROTOCOL, token, client: CLIENT };
  socket.send(JSON.stringify(hello));
  return socket;
}

/** The token for a code, as a page gets it. */
async function exchange(origin: string, code: string, limitMs: number): Promise<string> {
  const answer = await new Promise<string>((resolve, reject) => {
    const headers = { origin, 'content-type': 'application/json' };
    const asking = request(`${origin}/token`, { method: 'POST', headers, timeout: limitMs }, (got) => {
      if (got.statusCode === 200) return resolve(text(got));
      got.resume();
      reject(new Error(`The board refused the link, with status ${got.statusCode}.`));
    });
    asking.on('timeout', () => asking.destroy(new Error('The board did not answer.')));
    asking.on('error', reject);
    asking.end(JSON.stringify({ code }));
  });
  return tokenSchema.parse(JSON.parse(answer)).token;
}
