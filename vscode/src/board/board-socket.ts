import { WebSocket, type RawData } from 'ws';
import type { Logger } from '../../../src/base/logger.js';
import { socketJson } from '../../../src/base/input.js';
import { isServerMessage, type Link, type LinkEvents } from '../../../src/board/client.js';
import { BOARD_PROTOCOL, type ClientMessage } from '../../../src/board/protocol.js';
import { runningBoard, type RunningBoard } from '../../../src/board/running-board.js';
import { BridgeCommandError, runBridge, type BridgeCommandOptions } from './bridge-command.js';

/** The code with which the board closes a connection beyond its limit (https://www.iana.org/assignments/websocket). */
const TOO_MANY = 1013;
const ANSWER_LIMIT_MS = 10_000;
/** How others see who acted here. */
const CLIENT = 'vscode';

/** Opens a connection to the board. Throws when it does not answer within `limitMs`. */
export async function openBoardSocket(
  { port, token }: Pick<RunningBoard, 'port' | 'token'>,
  events: LinkEvents,
  logger: Logger,
  limitMs = ANSWER_LIMIT_MS,
): Promise<Link> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`, {
    origin: `http://127.0.0.1:${port}`,
    perMessageDeflate: false,
    handshakeTimeout: limitMs,
  });
  socket.on('message', (data: RawData, isBinary) => {
    const message = isBinary ? undefined : socketJson(data);
    try {
      if (isServerMessage(message)) events.message(message);
    } catch (error) {
      // Thrown into the socket it would end all that comes later, without a word.
      logger.error('A message of the board could not be used', { error });
    }
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  // Its close follows.
  socket.on('error', (error) => logger.warn('The connection to the board failed', { error }));
  socket.on('close', (code) => events.closed(closeWords(code)));
  const send = (message: ClientMessage): void => socket.send(JSON.stringify(message));
  send({ type: 'hello', v: BOARD_PROTOCOL, token, client: CLIENT });
  return { send, close: () => socket.terminate() };
}

/** Why the board has closed a connection. */
function closeWords(code: number): string {
  return code === TOO_MANY
    ? 'The board has as many pages and windows as it takes: close one.'
    : 'The board has ended.';
}

/**
 * The board that runs. Undefined where none runs, unless it `mayStart`: only what a person does starts one. Throws BridgeCommandError when
 * it cannot be started.
 */
export async function findBoard(
  command: BridgeCommandOptions,
  mayStart: boolean,
): Promise<RunningBoard | undefined> {
  const { statePath } = command;
  const running = await runningBoard(statePath);
  if (running !== undefined || !mayStart) return running;
  await runBridge(command, ['board', '--no-open']);
  const started = await runningBoard(statePath);
  if (started !== undefined) return started;
  throw new BridgeCommandError(
    `The board runs, but not for ${statePath}, or it is of an older version of the bridge. Set claudeTerminalBridge.stateDir, or install the newest claude-code-bridge.`,
  );
}
