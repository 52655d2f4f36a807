import { Emitter, DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import { sleep } from '../../../src/base/clock.js';
import { systemCodeOf } from '../../../src/base/errors.js';
import type { EditorMessage } from '../../../src/editor/protocol.js';
import type { WebSocket } from 'ws';
import { Client, type Answering } from './client.js';
import { Access, listen, type Listener } from './listener.js';

/** How often the fixed port is tried again while its window is being loaded again. */
const LEAVING_LOOK_MS = 250;

/** The window that has said that it listens at a port. */
export interface PortHolder {
  /** A main clause's subject: "the window of VS Code with /a". */
  readonly name: string;
  readonly isLeaving: boolean;
  /** It was this window before it was loaded again. */
  readonly isBefore: boolean;
}

export interface ServerOptions extends Answering {
  /** Of the settings; undefined for any free one. */
  readonly port: number | undefined;
  /** Undefined for a port of which no window of this user has said that it has it. */
  readonly holderOf: (port: number) => Promise<PortHolder | undefined>;
  readonly allowWithoutToken: boolean;
}

/** Where programs connect: on the fixed port where it is free, else on any. */
export class BridgeServer implements Disposable {
  readonly access = new Access();
  readonly #options: ServerOptions;
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new Emitter<void>());
  /** A program has come or gone, or the port is another one. */
  readonly onChange = this.#changed.event;
  #listener: Listener | undefined;
  readonly #clients = new Set<Client>();
  #elsewhere: string | undefined;
  #number = 0;

  private constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** Throws the system's error when no port can be had. */
  static async start(options: ServerOptions): Promise<BridgeServer> {
    const server = new BridgeServer(options);
    await server.listen();
    return server;
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** Why this is not the fixed port; undefined when it is. */
  get elsewhere(): string | undefined {
    return this.#elsewhere;
  }

  get programs(): readonly string[] {
    return [...this.#clients].filter(({ isKnown }) => isKnown).map(({ name }) => name);
  }

  /** Tells every program that has shown its token. */
  broadcast(message: EditorMessage): void {
    for (const client of this.#clients) if (client.isKnown) void client.send(message);
  }

  dispose(): void {
    for (const client of this.#clients) client.dispose();
    this.#listener?.close();
    this.#owned.dispose();
  }

  /** Tries the fixed port, unless it is there already; without it any other one is taken. Programs that are connected stay. Throws the system's error. */
  async listen(): Promise<void> {
    const { port, clock, logger, holderOf } = this.#options;
    if (port === undefined && this.#listener === undefined) return this.#take(0);
    if (port === undefined || this.port === port) return;
    let holder = await holderOf(port);
    // Another window that is loaded again finds its port free.
    let isOurs = (holder?.isLeaving !== true || holder.isBefore) && (await this.#tryPort(port));
    while (!isOurs && holder?.isLeaving === true && holder.isBefore && !this.#owned.isDisposed) {
      await sleep(clock, LEAVING_LOOK_MS);
      holder = await holderOf(port);
      isOurs = await this.#tryPort(port);
    }
    this.#elsewhere = isOurs
      ? undefined
      : `port ${port} is taken by ${holder?.name ?? 'another program'}: run Connect when it is free`;
    if (this.#elsewhere !== undefined) logger.warn(this.#elsewhere);
    if (this.#listener === undefined) await this.#take(0);
  }

  /** False when another program has the port. */
  async #tryPort(port: number): Promise<boolean> {
    try {
      await this.#take(port);
      return true;
    } catch (error) {
      if (systemCodeOf(error) === 'EADDRINUSE') return false;
      throw error;
    }
  }

  async #take(port: number): Promise<void> {
    const listener = await listen(
      {
        ...this.#options,
        access: this.access,
        clients: () => this.#clients.size,
        onConnection: (socket, isKnown) => this.#connected(socket, isKnown),
      },
      port,
    );
    if (this.#owned.isDisposed) return listener.close();
    this.#listener?.close();
    this.#listener = listener;
    this.#options.logger.info(`Listening on ws://127.0.0.1:${listener.port}`);
    this.#changed.fire();
  }

  #connected(socket: WebSocket, withToken: boolean): void {
    const { allowWithoutToken, logger, welcome } = this.#options;
    const number = ++this.#number;
    logger.info(`#${number} a program has connected`, { withToken });
    const client = new Client({
      ...this.#options,
      ...{ socket, number, isKnown: withToken || allowWithoutToken },
      isToken: (shown) => this.access.isToken(shown),
      welcome: (id) => {
        this.#changed.fire();
        return welcome(id);
      },
    });
    this.#clients.add(client);
    client.gone.addEventListener('abort', () => {
      this.#clients.delete(client);
      this.#changed.fire();
    });
    this.#changed.fire();
  }
}
