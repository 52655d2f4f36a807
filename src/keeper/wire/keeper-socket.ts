import { chmod, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { z } from 'zod';
import { withinMs, type Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { readJsonLines, writeJsonLine } from './json-lines.js';
import { type Calls, type Handlers, methods, PROTOCOL, wireErrorOf } from './messages.js';

/** Servers, callers and people at terminals; a call connects for its own short time. */
const MAX_PEERS = 64;
/** At the end, requests that are being answered get this long: a process that has ended answers at once. */
const LAST_ANSWERS_MS = 2_000;
/** At the end, a client gets this long to read its last lines. */
const GOODBYE_MS = 1_000;
const OWNER_ONLY = 0o600;
/**
 * How long a keeper serves the end of its task or process and tries to write it while the disk is full. Then it exits, and a server
 * records that the keeper is gone.
 */
export const FULL_DISK_LIMIT_MS = 15 * 60_000;
/** A client waits for its answers; one with more open requests is disconnected. */
const MAX_OPEN_REQUESTS = 100;
/** A client that sends requests and does not read the answers is disconnected before it costs memory. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** A client with more unread bytes gets the next record once it has read all. */
const MAX_UNREAD_RECORD_BYTES = 256 * 1024;
/** Enough of the name of a method to recognise it. */
const MAX_METHOD_CHARS = 40;

/** The part of a request that is the same in every version; `ping` asks whether this process responds. */
const requestSchema = z.looseObject({ id: z.number(), method: z.unknown() });

export interface KeeperSocketOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The record of the task or process, as it is sent: at first, at the end, and to those who follow when it changed. */
  readonly record: () => object;
  readonly handlers: Handlers<KeeperPeer>;
  /** A client has gone. */
  readonly onLeave?: (peer: KeeperPeer) => void;
  /** A client has read all that was sent. */
  readonly onDrain?: (peer: KeeperPeer) => void;
}

/** The Unix socket of a keeper, for any number of clients of the same user. It greets each with the record. */
export class KeeperSocket implements Disposable {
  readonly #options: KeeperSocketOptions;
  readonly #server = createServer((socket) => this.#serve(socket));
  readonly #peers = new Set<KeeperPeer>();

  constructor(options: KeeperSocketOptions) {
    this.#options = options;
  }

  /** Listens at `path`, mode 0600; a socket that a dead keeper left there is replaced. */
  async listen(): Promise<void> {
    const { path, logger } = this.#options;
    await rm(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path, resolve);
    });
    await chmod(path, OWNER_ONLY);
    this.#server.on('error', (error) => logger.error('the keeper socket failed', { error: error.message }));
  }

  /** The record has changed: sends it to the clients that follow it, or to all. */
  sendRecord(to: 'followers' | 'all'): void {
    for (const peer of this.#peers) if (to === 'all' || peer.follows) peer.sendRecord();
  }

  /** Sends every client the final record and the answers to its requests, and closes; resolves when all have read that. */
  async finish(): Promise<void> {
    const { clock, path } = this.#options;
    this.sendRecord('all');
    this.#server.close();
    await withinMs(clock, LAST_ANSWERS_MS, Promise.all([...this.#peers].map((peer) => peer.answered())));
    await withinMs(clock, GOODBYE_MS, Promise.all([...this.#peers].map((peer) => peer.end())));
    this.dispose();
    await rm(path, { force: true });
  }

  dispose(): void {
    this.#server.close();
    for (const peer of this.#peers) peer.dispose();
  }

  #serve(socket: Socket): void {
    const peer = new KeeperPeer(socket, this.#options);
    this.#peers.add(peer);
    socket.on('close', () => {
      this.#peers.delete(peer);
      this.#options.onLeave?.(peer);
    });
    if (this.#peers.size <= MAX_PEERS) return;
    // A client of one call is dropped before a person at the terminal.
    const [oldest = peer] = this.#peers;
    const dropped = [...this.#peers].find((one) => !one.follows) ?? oldest;
    this.#peers.delete(dropped);
    dropped.dispose();
  }
}

/** One client of a keeper's socket. Its unread bytes are bounded: a client that does not read gets fewer messages. */
export class KeeperPeer implements Disposable {
  readonly #socket: Socket;
  readonly #options: KeeperSocketOptions;
  readonly #answering = new Set<Promise<void>>();
  #isOwedRecord = false;
  #follows = false;

  constructor(socket: Socket, options: KeeperSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('error', () => socket.destroy());
    socket.on('drain', () => {
      if (this.#isOwedRecord) this.sendRecord();
      options.onDrain?.(this);
    });
    readJsonLines(socket, (line) => this.#onLine(line));
    this.sendRecord();
  }

  get unreadBytes(): number {
    return this.#socket.writableLength;
  }

  send(push: object): void {
    writeJsonLine(this.#socket, push);
  }

  sendRecord(isLast = false): void {
    this.#isOwedRecord = !isLast && this.unreadBytes > MAX_UNREAD_RECORD_BYTES;
    if (!this.#isOwedRecord)
      this.send({ push: 'record', protocol: PROTOCOL, record: this.#options.record() });
  }

  /** It stays connected, and gets the record now and after each change; any other client connects for one call. */
  get follows(): boolean {
    return this.#follows;
  }

  follow(): void {
    if (!this.#follows) this.sendRecord();
    this.#follows = true;
  }

  /** Resolves when all requests that have been read are answered. */
  async answered(): Promise<void> {
    await Promise.all(this.#answering);
  }

  /**
   * Resolves when the client has read to the end and closed, or is gone. If the keeper closed both directions, a client that
   * writes at that moment would lose what it has not read: its write fails, and Node.js closes a socket whose write failed.
   */
  end(): Promise<void> {
    if (this.#socket.destroyed) return Promise.resolve();
    if (this.#isOwedRecord) this.sendRecord(true);
    return new Promise((resolve) => {
      this.#socket.once('close', resolve);
      this.#socket.end();
    });
  }

  dispose(): void {
    this.#socket.destroy();
  }

  #onLine(line: unknown): void {
    const request = requestSchema.safeParse(line);
    // A line without an id is not a request, so the other side is not a client of a keeper.
    if (!request.success || this.#answering.size >= MAX_OPEN_REQUESTS) return void this.#socket.destroy();
    const { id, method } = request.data;
    if (method === 'ping') return this.send({ id });
    const answering = this.#answer(id, method, line).finally(() => this.#answering.delete(answering));
    this.#answering.add(answering);
  }

  async #answer(id: number, method: unknown, request: unknown): Promise<void> {
    const isKnown = typeof method === 'string' && isMethod(method);
    const answer = await (isKnown ? this.#act(method, request) : refuse(method)).then(
      (value) => ({ value }),
      (error: unknown) => ({ error: wireErrorOf(error) }),
    );
    if (this.unreadBytes > MAX_UNREAD_BYTES) this.#socket.destroy();
    else this.send({ id, ...answer });
  }

  async #act<K extends keyof Calls>(method: K, request: unknown): Promise<Calls[K]['value']> {
    const args = methods[method].args.safeParse(request);
    const handler = this.#options.handlers[method];
    return args.success && handler !== undefined ? handler(args.data, this) : refuse(method);
  }
}

function isMethod(name: string): name is keyof Calls {
  return Object.hasOwn(methods, name);
}

async function refuse(method: unknown): Promise<never> {
  const shown = typeof method === 'string' ? `'${method.slice(0, MAX_METHOD_CHARS)}'` : 'this';
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The keeper (protocol ${PROTOCOL}) does not understand ${shown} as it was sent.`,
    'It was started by another version of the bridge; what it runs can still be listed and followed.',
  );
}
