import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { z } from 'zod';
import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { TaskRun } from '../tasks/task-run.js';
import { AnswerTurns } from './answer-turns.js';
import { readJsonLines } from './json-lines.js';
import { KeeperPeer } from './keeper-peer.js';
import { LastServer } from './last-server.js';
import { RecordPush } from './record-push.js';
import {
  keeperRequestSchema,
  MAX_REQUEST_BYTES,
  numberedSchema,
  PROTOCOL,
  type KeeperReply,
  type KeeperRequest,
} from './messages.js';
import { noTerminal, TerminalWatchers, type TerminalWatchersOptions } from './terminal-watchers.js';

/** Servers, callers and people at terminals; a call connects for its own short time. */
const MAX_PEERS = 64;
/** A client waits for its answers; what asks for more at once is none of ours. */
const MAX_PENDING = 100;
const killSchema = z.object({ method: z.literal('kill') });
/** What is being answered when the task ends is told still; a session that ended answers at once. */
const LAST_ANSWERS_MS = 2_000;
/** A client that does not take its last lines is not waited for longer. */
const GOODBYE_MS = 1_000;

export interface KeeperServerOptions {
  readonly run: TaskRun;
  readonly socketPath: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The session's terminal, and where what people do there is written down; left out, nobody can watch. */
  readonly terminal?: Omit<TerminalWatchersOptions, 'clock' | 'onTyped'>;
  /** The task ends when no server has been connected for so long; undefined for one that needs none. */
  readonly stopWithoutServerSeconds?: number | undefined;
}

/** Serves one TaskRun on a Unix socket, to any number of clients. */
export class KeeperServer implements Disposable {
  readonly #owned = new DisposableStore();
  readonly #peers = new Set<KeeperPeer>();
  readonly #server: Server;
  readonly #answering = new Set<Promise<void>>();
  readonly #turns = new AnswerTurns();
  readonly #run: TaskRun;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #watchers: TerminalWatchers | undefined;
  readonly #lastServer: LastServer;

  private constructor({ run, clock, logger, terminal, stopWithoutServerSeconds }: KeeperServerOptions) {
    this.#run = run;
    this.#clock = clock;
    this.#logger = logger;
    this.#server = createServer((socket) => this.#serve(socket));
    if (terminal !== undefined)
      this.#watchers = this.#owned.add(
        new TerminalWatchers({ ...terminal, clock, onTyped: () => run.typed() }),
      );
    this.#lastServer = this.#owned.add(
      new LastServer({
        clock,
        graceSeconds: stopWithoutServerSeconds,
        onAlone: (reason) => void run.kill(reason),
      }),
    );
    const push = this.#owned.add(new RecordPush(clock, () => this.#push()));
    this.#owned.add(run.onDidChange((record) => push.changed(record)));
  }

  /** Listens on `socketPath`, mode 0600; a socket that a dead keeper left there is replaced. */
  static async start(options: KeeperServerOptions): Promise<KeeperServer> {
    const keeper = new KeeperServer(options);
    await rm(options.socketPath, { force: true });
    await new Promise<void>((resolve, reject) => {
      keeper.#server.once('error', reject);
      keeper.#server.listen(options.socketPath, resolve);
    });
    await chmod(options.socketPath, 0o600);
    keeper.#server.on('error', (fault) =>
      options.logger.error('the keeper socket failed', { fault: fault.message }),
    );
    return keeper;
  }

  get clientCount(): number {
    return this.#peers.size;
  }

  /** What clients have been sent and did not read yet. */
  get unreadBytes(): number {
    return [...this.#peers].reduce((sum, peer) => sum + peer.unreadBytes, 0);
  }

  /** Writes down what was typed; before the journal is closed. */
  tellTyped(): void {
    this.#watchers?.tellTyped();
  }

  /** Tells every client the final record and what it asked for, and says goodbye; resolves when all have been told. */
  async finish(): Promise<void> {
    this.#lastServer.dispose();
    this.#watchers?.finish();
    this.#push();
    this.#server.close();
    await withinMs(this.#clock, LAST_ANSWERS_MS, Promise.all(this.#answering));
    await withinMs(this.#clock, GOODBYE_MS, Promise.all([...this.#peers].map((peer) => peer.end())));
  }

  dispose(): void {
    this.#owned.dispose();
    this.#server.close();
    for (const peer of this.#peers) peer.dispose();
  }

  #serve(socket: Socket): void {
    const peer = new KeeperPeer(socket, {
      greeting: () => ({ push: 'record', record: this.#run.record, protocol: PROTOCOL }),
      record: () => ({ push: 'record', record: this.#run.record }),
      onDrain: () => this.#watchers?.caughtUp(peer),
    });
    this.#peers.add(peer);
    this.#dropOldest();
    let pending = 0;
    socket.on('close', () => {
      this.#peers.delete(peer);
      this.#watchers?.leave(peer);
      peer.dispose();
    });
    socket.on('error', (fault) => this.#logger.debug('a keeper client went away', { fault: fault.message }));
    const onLine = (value: unknown): void => {
      if (++pending > MAX_PENDING) return void socket.destroy();
      const answering = this.#answerInTurn(peer, value, socket)
        .then((reply) => (reply === undefined ? socket.destroy() : peer.reply(reply)))
        .then(() => undefined)
        .finally(() => {
          pending--;
          this.#answering.delete(answering);
        });
      this.#answering.add(answering);
    };
    readJsonLines(socket, onLine, MAX_REQUEST_BYTES);
  }

  /** One that only calls goes before a server, which the task may need, and before a person at the terminal. */
  #dropOldest(): void {
    if (this.#peers.size <= MAX_PEERS) return;
    const [oldest] = this.#peers;
    const peer = [...this.#peers].find((one) => !one.stays) ?? oldest;
    if (peer === undefined) return;
    this.#peers.delete(peer);
    peer.dispose();
  }

  /** `kill` waits for no other request. Undefined for what is no request at all, and when the client has gone meanwhile. */
  async #answerInTurn(peer: KeeperPeer, value: unknown, socket: Socket): Promise<KeeperReply | undefined> {
    const kill = killSchema.safeParse(value);
    if (!kill.success) await this.#turns.next();
    return socket.destroyed ? undefined : this.#answerLine(peer, value);
  }

  /** Undefined for what is no request at all. */
  async #answerLine(peer: KeeperPeer, value: unknown): Promise<KeeperReply | undefined> {
    const request = keeperRequestSchema.safeParse(value);
    if (request.success) return this.#answer(peer, request.data);
    const numbered = numberedSchema.safeParse(value);
    if (!numbered.success) return undefined;
    return { id: numbered.data.id, error: errorOf(notUnderstood(numbered.data['method'])) };
  }

  async #answer(peer: KeeperPeer, request: KeeperRequest): Promise<KeeperReply> {
    const { id } = request;
    try {
      switch (request.method) {
        case 'hello':
          peer.stays ||= request.role !== 'caller';
          if (request.role === 'server') peer.owns(this.#lastServer.came());
          return { id, hello: { protocol: PROTOCOL, needs_server: this.#lastServer.isNeeded } };
        case 'respond':
          return { id, record: await this.#run.respond(request.answer) };
        case 'message':
          return {
            id,
            record: await this.#run.message({
              ...(request.text === undefined ? {} : { text: request.text }),
              ...(request.interrupt === undefined ? {} : { interrupt: request.interrupt }),
            }),
          };
        case 'kill':
          return { id, record: await this.#run.kill(request.reason) };
        case 'screen':
          return { id, screen: await this.#run.screen() };
        case 'watch':
          this.#mustWatch().watch(peer, request.view);
          return { id, done: true };
        case 'type':
          this.#mustWatch().type(peer, Buffer.from(request.keys, 'base64'));
          return { id, done: true };
      }
    } catch (fault) {
      return { id, error: errorOf(fault) };
    }
  }

  #mustWatch(): TerminalWatchers {
    if (this.#watchers !== undefined) return this.#watchers;
    throw noTerminal('its keeper offers none');
  }

  #push(): void {
    for (const peer of this.#peers) peer.tellRecord();
  }
}

function notUnderstood(method: unknown): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `The task's keeper (protocol ${PROTOCOL}) does not understand ${typeof method === 'string' ? `'${method.slice(0, 40)}'` : 'this'} as it was sent.`,
    'The task was started by another version of the bridge; it can still be listed, followed and killed.',
  );
}

/** A fault in the form in which it crosses a process border. */
export function errorOf(fault: unknown): { code: string; message: string; hint: string } {
  if (fault instanceof BridgeError) return { code: fault.code, message: fault.message, hint: fault.hint };
  return {
    code: 'INTERNAL_ERROR',
    message: messageOf(fault),
    hint: 'See keeper.log in the task’s state directory.',
  };
}
