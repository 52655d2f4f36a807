import type { Socket } from 'node:net';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { writeJsonLine } from './json-lines.js';
import type { KeeperReply, TerminalPush } from './messages.js';

/** A client that asks and does not read the answers is dropped before it costs memory. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** With so much unread a client is not told of changes; when it has read, it is told the newest one. */
const MAX_UNREAD_RECORD_BYTES = 256 * 1024;

export interface KeeperPeerOptions {
  readonly greeting: () => KeeperReply;
  readonly record: () => KeeperReply;
  /** All that was sent has been read. */
  readonly onDrain: () => void;
}

/** One client of a keeper's socket. What it is told is bounded: who does not read is told less, not later. */
export class KeeperPeer implements Disposable {
  readonly #socket: Socket;
  readonly #options: KeeperPeerOptions;
  readonly #owned = new DisposableStore();
  #isOwedRecord = false;
  /** A server or a watcher, which stays connected; else it only calls. */
  stays = false;

  constructor(socket: Socket, options: KeeperPeerOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('drain', () => {
      if (this.#isOwedRecord) this.tellRecord();
      options.onDrain();
    });
    writeJsonLine(socket, options.greeting());
  }

  get unreadBytes(): number {
    return this.#socket.writableLength;
  }

  /** What is disposed when this client has gone. */
  owns(owned: Disposable): void {
    this.#owned.add(owned);
  }

  reply(reply: KeeperReply): void {
    if (this.unreadBytes > MAX_UNREAD_BYTES) this.#socket.destroy();
    else writeJsonLine(this.#socket, reply);
  }

  send(push: TerminalPush): void {
    writeJsonLine(this.#socket, push);
  }

  tellRecord(): void {
    this.#isOwedRecord = this.unreadBytes > MAX_UNREAD_RECORD_BYTES;
    if (!this.#isOwedRecord) writeJsonLine(this.#socket, this.#options.record());
  }

  /**
   * Resolves when the client has read to the end and hung up, or is gone. Hanging up on one that still writes would take from
   * it what it has not read: its write fails, and Node.js closes a socket whose write failed.
   */
  end(): Promise<void> {
    if (this.#socket.destroyed) return Promise.resolve();
    if (this.#isOwedRecord) writeJsonLine(this.#socket, this.#options.record());
    return new Promise((resolve) => {
      this.#socket.once('close', resolve);
      this.#socket.end();
    });
  }

  dispose(): void {
    this.#owned.dispose();
    this.#socket.destroy();
  }
}
