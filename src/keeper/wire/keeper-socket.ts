import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { withinMs, type Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { KeeperPeer, type KeeperPeerOptions } from './keeper-peer.js';

/** Servers, callers and people at terminals; a call connects for its own short time. */
const MAX_PEERS = 64;
/** At the end, requests that are being answered get this long: a process that has ended answers at once. */
const LAST_ANSWERS_MS = 2_000;
/** At the end, a client gets this long to read its last lines. */
const GOODBYE_MS = 1_000;
const OWNER_ONLY = 0o600;

export interface KeeperSocketOptions extends Pick<KeeperPeerOptions, 'record' | 'change' | 'answer'> {
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A client has connected. */
  /** A client has gone. */
  readonly onLeave?: (peer: KeeperPeer) => void;
  /** A client has read all that was sent. */
  readonly onDrain?: (peer: KeeperPeer) => void;
}

/** The Unix socket of a keeper, for any number of clients of the same user. It greets each with the record. */
export class KeeperSocket implements Disposable {
  readonly #options: KeeperSocketOptions;
  readonly #server: Server;
  readonly #peers = new Set<KeeperPeer>();

  constructor(options: KeeperSocketOptions) {
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

  /** Sends every client the final record and the answers to its requests, and closes; resolves when all have read that. */
  async finish(): Promise<void> {
    const { clock, path } = this.#options;
    for (const peer of this.#peers) peer.sendFinalRecord();
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
    const { record, change, answer, onLeave, onDrain, logger } = this.#options;
    const peer = new KeeperPeer(socket, {
      record,
      change,
      answer,
      onClose: (one) => {
        this.#peers.delete(one);
        logger.debug('A client left', { clients: this.clientCount });
        onLeave?.(one);
      },
      onDrain: (one) => onDrain?.(one),
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
