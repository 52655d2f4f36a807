import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { z } from 'zod';
import { withinMs, type Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { MAX_REQUEST_BYTES, readJsonLines, writeJsonLine } from './json-lines.js';
import { answerBy, type Calls, type Handlers, type Methods, PROTOCOL, wireErrorOf } from './messages.js';

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

export interface KeeperSocketOptions<T extends Calls<T>> {
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The record of the task or process, as it is pushed: at first, at the end, and to those who follow when it changed. */
  readonly record: () => object;
  /** What others get of a change; nothing when left out. */
  readonly change?: () => object;
  readonly methods: Methods<T>;
  readonly handlers: Handlers<T, KeeperPeer>;
  /** A client has gone. */
  readonly onLeave?: (peer: KeeperPeer) => void;
  /** A client has read all that was sent. */
  readonly onDrain?: (peer: KeeperPeer) => void;
}

/** The Unix socket of a keeper, for any number of clients of the same user. It greets each with the record. */
export class KeeperSocket<T extends Calls<T>> implements Disposable {
  readonly #options: KeeperSocketOptions<T>;
  readonly #server: Server;
  readonly #peers = new Set<KeeperPeer>();

  constructor(options: KeeperSocketOptions<T>) {
    this.#options = options;
    this.#server = createServer((socket) => this.#serve(socket));
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

  get clientCount(): number {
    return this.#peers.size;
  }

  /** Bytes that were sent to clients and not read yet. */
  get unreadBytes(): number {
    return [...this.#peers].reduce((sum, peer) => sum + peer.unreadBytes, 0);
  }

  /** The record has changed: sends that to every client. */
  sendChange(): void {
    for (const peer of this.#peers) peer.sendChange();
  }

  /** Sends every client the record, which will not change any more. */
  sendFinalRecord(): void {
    for (const peer of this.#peers) peer.sendFinalRecord();
  }

  /** Sends every client the final record and the answers to its requests, and closes; resolves when all have read that. */
  async finish(): Promise<void> {
    const { clock, path } = this.#options;
    this.sendFinalRecord();
    this.#server.close();
    const answered = [...this.#peers].map((peer) => peer.answered());
    await withinMs(clock, LAST_ANSWERS_MS, Promise.all(answered));
    await withinMs(clock, GOODBYE_MS, Promise.all([...this.#peers].map((peer) => peer.end())));
    this.dispose();
    await rm(path, { force: true });
  }

  dispose(): void {
    this.#server.close();
    for (const peer of this.#peers) peer.dispose();
  }

  #serve(socket: Socket): void {
    const { record, change, methods, handlers, onLeave, onDrain, logger } = this.#options;
    const peer: KeeperPeer = new KeeperPeer(socket, {
      record: () => ({ push: 'record', protocol: PROTOCOL, record: record() }),
      change,
      answer: (request) => answerBy(methods, handlers, request, peer),
      onClose: () => {
        this.#peers.delete(peer);
        logger.debug('A client left', { clients: this.clientCount });
        onLeave?.(peer);
      },
      onDrain: () => onDrain?.(peer),
    });
    this.#peers.add(peer);
    logger.debug('A client connected', { clients: this.clientCount });
    this.#dropOldest();
  }

  /** A client of one call is dropped before a person at the terminal. */
  #dropOldest(): void {
    if (this.#peers.size <= MAX_PEERS) return;
    const [oldest] = this.#peers;
    const peer = [...this.#peers].find((one) => !one.follows) ?? oldest;
    if (peer === undefined) return;
    this.#peers.delete(peer);
    peer.dispose();
  }
}

/** A client waits for its answers; one with more open requests is disconnected. */
const MAX_OPEN_REQUESTS = 100;
/** A client that sends requests and does not read the answers is disconnected before it costs memory. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** A client with more unread bytes gets no change; when it has read all, it gets the newest one. */
const MAX_UNREAD_CHANGE_BYTES = 256 * 1024;

/** The part of a request that is the same in every version; `ping` asks whether this process responds. */
const requestSchema = z.looseObject({ id: z.number(), method: z.unknown() });

interface KeeperPeerOptions {
  readonly record: () => object;
  readonly change: (() => object) | undefined;
  readonly answer: (request: unknown) => Promise<unknown>;
  readonly onClose: () => void;
  readonly onDrain: () => void;
}

/** One client of a keeper's socket. Its unread bytes are bounded: a client that does not read gets fewer messages. */
export class KeeperPeer implements Disposable {
  readonly #socket: Socket;
  readonly #options: KeeperPeerOptions;
  readonly #answering = new Set<Promise<void>>();
  #isOwedChange = false;
  #changed: (() => object) | undefined;
  #follows = false;

  constructor(socket: Socket, options: KeeperPeerOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#changed = options.change;
    socket.on('error', () => socket.destroy());
    socket.on('close', () => options.onClose());
    socket.on('drain', () => {
      if (this.#isOwedChange) this.sendChange();
      options.onDrain();
    });
    readJsonLines(socket, (line) => this.#onLine(line), MAX_REQUEST_BYTES);
    this.send(options.record());
  }

  get unreadBytes(): number {
    return this.#socket.writableLength;
  }

  send(push: object): void {
    writeJsonLine(this.#socket, push);
  }

  /** It stays connected, and gets the record now and after each change; any other client connects for one call. */
  get follows(): boolean {
    return this.#follows;
  }

  follow(): void {
    if (this.#follows) return;
    this.#follows = true;
    this.sendFinalRecord();
  }

  /** The record has changed. */
  sendChange(): void {
    this.#isOwedChange = this.unreadBytes > MAX_UNREAD_CHANGE_BYTES;
    if (!this.#isOwedChange && this.#changed !== undefined) this.send(this.#changed());
  }

  /** The record instead of its number, now and from now on. */
  sendFinalRecord(): void {
    this.#changed = this.#options.record;
    this.sendChange();
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
    if (this.#isOwedChange && this.#changed !== undefined) this.send(this.#changed());
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
    if (request.data.method === 'ping') return this.send({ id: request.data.id });
    const answering = this.#answer(request.data.id, line).finally(() => this.#answering.delete(answering));
    this.#answering.add(answering);
  }

  async #answer(id: number, request: unknown): Promise<void> {
    const answer = await this.#options.answer(request).then(
      (value) => ({ value }),
      (error: unknown) => ({ error: wireErrorOf(error) }),
    );
    if (this.unreadBytes > MAX_UNREAD_BYTES) this.#socket.destroy();
    else this.send({ id, ...answer });
  }
}
