import type { Socket } from 'node:net';
import { z } from 'zod';
import type { Disposable } from '../../base/lifecycle.js';
import { MAX_REQUEST_BYTES, readJsonLines, writeJsonLine } from './json-lines.js';
import { wireErrorOf } from './wire-error.js';

/** A client waits for its answers; one with more open requests is disconnected. */
const MAX_OPEN_REQUESTS = 100;
/** A client that sends requests and does not read the answers is disconnected before it costs memory. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** A client with more unread bytes gets no change; when it has read all, it gets the newest one. */
const MAX_UNREAD_CHANGE_BYTES = 256 * 1024;

/** The part of a request that is the same in every version; `ping` asks whether this process responds. */
const requestSchema = z.looseObject({ id: z.number(), method: z.unknown() });

export interface KeeperPeerOptions {
  /** The record of the task or process, as it is pushed: at first, at the end, and to those who follow when it changed. */
  readonly record: () => object;
  /** What others get of a change; the record when left out. */
  readonly change?: (() => object) | undefined;
  /** Resolves with the answer to a request; an error that it throws is sent as the answer. Undefined disconnects the client. */
  readonly answer: (peer: KeeperPeer, request: unknown) => Promise<object | undefined>;
  readonly onClose: (peer: KeeperPeer) => void;
  /** Called each time when all that was sent has been read. */
  readonly onDrain: (peer: KeeperPeer) => void;
}

/** One client of a keeper's socket. Its unread bytes are bounded: a client that does not read gets fewer messages. */
export class KeeperPeer implements Disposable {
  readonly #socket: Socket;
  readonly #options: KeeperPeerOptions;
  readonly #answering = new Set<Promise<void>>();
  #isOwedChange = false;
  #changed: () => object;
  #follows = false;

  constructor(socket: Socket, options: KeeperPeerOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#changed = options.change ?? options.record;
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      options.onClose(this);
    });
    socket.on('drain', () => {
      if (this.#isOwedChange) this.sendChange();
      options.onDrain(this);
    });
    readJsonLines(socket, (line) => this.#onLine(line), MAX_REQUEST_BYTES);
    writeJsonLine(socket, options.record());
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
    this.#changed = this.#options.record;
    this.sendChange();
  }

  /** The record has changed. */
  sendChange(): void {
    this.#isOwedChange = this.unreadBytes > MAX_UNREAD_CHANGE_BYTES;
    if (!this.#isOwedChange) this.send(this.#changed());
  }

  /** The record will not change any more. */
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
    if (this.#isOwedChange) this.send(this.#changed());
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
    let answer: object | undefined;
    try {
      answer = await this.#options.answer(this, request);
    } catch (error) {
      answer = { error: wireErrorOf(error) };
    }
    if (answer === undefined || this.unreadBytes > MAX_UNREAD_BYTES) this.#socket.destroy();
    else this.send({ id, ...answer });
  }
}
