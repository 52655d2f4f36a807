import { Emitter, type Event } from '../../../src/base/event.js';
import type { Clock } from '../../../src/base/clock.js';
import { systemCodeOf } from '../../../src/base/errors.js';
import { DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import type { Logger } from '../../../src/base/logger.js';
import type { EditorMessage, EditorRequest } from '../../../src/editor/protocol.js';
import type { WebSocket } from 'ws';
import { Access } from './access.js';
import { Client, type Program } from './client.js';
import { Listener } from './listener.js';

/** How often the fixed port is tried again while another window has it. */
const PORT_RETRY_MS = 5_000;

export interface ServerOptions {
  /** Of the settings; undefined for any free one. */
  readonly port: number | undefined;
  readonly allowWithoutToken: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly welcome: (id: string) => EditorMessage;
  readonly answer: (request: EditorRequest, program: Program) => Promise<EditorMessage>;
}

/** Where programs connect: on the fixed port where it is free, else on any, and on the fixed one as soon as that is free. */
export class BridgeServer implements Disposable {
  readonly access = new Access();
  readonly #options: ServerOptions;
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new Emitter<void>());
  /** A program has come or gone, or a port was added. */
  readonly onChange: Event<void> = this.#changed.event;
  readonly #listeners: Listener[] = [];
  readonly #clients = new Set<Client>();
  #retry: Disposable | undefined;
  #number = 0;

  private constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** Throws the system's error when no port can be had. */
  static async start(options: ServerOptions): Promise<BridgeServer> {
    const server = new BridgeServer(options);
    await server.#listen();
    return server;
  }

  /** The port that is there as long as this server. */
  get port(): number {
    return this.#listeners[0]?.port ?? 0;
  }

  get ports(): readonly number[] {
    return this.#listeners.map(({ port }) => port);
  }

  get programs(): readonly string[] {
    return [...this.#clients].filter(({ isKnown }) => isKnown).map(({ name }) => name);
  }

  /** Tells every program that has shown its token. */
  broadcast(message: EditorMessage): void {
    for (const client of this.#clients) if (client.isKnown) void client.send(message);
  }

  dispose(): void {
    this.#retry?.dispose();
    for (const client of this.#clients) client.dispose();
    for (const listener of this.#listeners) void listener.close();
    this.#owned.dispose();
  }

  async #listen(): Promise<void> {
    const { port, logger } = this.#options;
    if (port !== undefined && (await this.#tryPort(port))) return;
    await this.#add(0);
    if (port === undefined) return;
    logger.info(`Port ${port} is taken, so this window has port ${this.port}`);
    this.#retryLater(port);
  }

  #retryLater(port: number): void {
    this.#retry = this.#options.clock.after(PORT_RETRY_MS, () => {
      this.#tryPort(port).then(
        (isOurs) => {
          if (isOurs || this.#owned.isDisposed) return;
          this.#retryLater(port);
        },
        (error: unknown) => this.#options.logger.error(`Port ${port} cannot be used`, { error }),
      );
    });
  }

  /** False when another program has the port. */
  async #tryPort(port: number): Promise<boolean> {
    try {
      await this.#add(port);
      return true;
    } catch (error) {
      if (systemCodeOf(error) === 'EADDRINUSE') return false;
      throw error;
    }
  }

  async #add(port: number): Promise<void> {
    const { logger } = this.#options;
    const listener = new Listener({
      access: this.access,
      logger,
      clients: () => this.#clients.size,
      onConnection: (socket, isKnown) => this.#connected(socket, isKnown),
    });
    await listener.listen(port);
    if (this.#owned.isDisposed) return void listener.close();
    this.#listeners.push(listener);
    logger.info(`Listening on ws://127.0.0.1:${listener.port}`);
    this.#changed.fire();
  }

  #connected(socket: WebSocket, isKnown: boolean): void {
    const { allowWithoutToken, clock, logger, welcome, answer } = this.#options;
    const number = ++this.#number;
    logger.info(`#${number} a program has connected`, { withToken: isKnown });
    const client = new Client({
      socket,
      number,
      clock,
      logger,
      isKnown: isKnown || allowWithoutToken,
      isToken: (shown) => this.access.isToken(shown),
      welcome: (id) => {
        this.#changed.fire();
        return welcome(id);
      },
      answer,
    });
    this.#clients.add(client);
    client.gone.addEventListener('abort', () => {
      this.#clients.delete(client);
      this.#changed.fire();
    });
    this.#changed.fire();
  }
}
