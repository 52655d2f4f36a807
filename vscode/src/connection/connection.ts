import { messageOf } from '../../../src/base/errors.js';
import { Emitter, DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import type { EditorMessage } from '../../../src/editor/protocol.js';
import type { Settings } from '../settings.js';
import { windowAtPort } from '../../../src/editor/discovery.js';
import { windowName } from '../../../src/editor/editor-fault.js';
import { BridgeServer, type PortHolder } from './bridge-server.js';
import type { Answering } from './client.js';
import type { WindowFile } from './window-file.js';

export interface ConnectionState {
  readonly isConnected: boolean;
  /** A sentence for the person. */
  readonly text: string;
}

export interface ConnectionOptions extends Omit<Answering, 'tokenFile'> {
  /** Throws an error with what is wrong in them. */
  readonly settings: () => Settings;
  readonly windowFile: WindowFile;
  readonly folders: () => readonly string[];
}

/** Whether programs can connect to this window: a server and its discovery file, both or neither. */
export class Connection implements Disposable {
  readonly #options: ConnectionOptions;
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new Emitter<void>());
  readonly onChange = this.#changed.event;
  #server: BridgeServer | undefined;
  #fault: string | undefined;
  /** What it listens with. */
  #used: string | undefined;
  /** One step after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    const server = this.#server;
    if (server === undefined)
      return { isConnected: false, text: this.#fault ?? 'programs cannot connect to this window.' };
    const { programs, ports, elsewhere } = server;
    const names = programs.length === 0 ? 'no program is connected' : `connected: ${programs.join(', ')}`;
    return {
      isConnected: true,
      text: `listening on ${ports.map((port) => `ws://localhost:${port}`).join(' and ')}; ${names}${elsewhere === undefined ? '' : `; ${elsewhere}`}.`,
    };
  }

  /** Listens; when it listens elsewhere, also at the fixed port. Throws what keeps it from listening. */
  connect(): Promise<void> {
    return this.#next(async () => {
      if (this.#server === undefined) return this.#start();
      await this.#server.listen();
      await this.#writeFile(this.#server);
    });
  }

  disconnect(): Promise<void> {
    return this.#next(() => this.#stop());
  }

  /** With other settings, where they differ; stays disconnected when it is. A file of the workspace that sets nothing ends no connection. */
  reconnect(): Promise<void> {
    return this.#next(async () => {
      if (this.#server === undefined || this.#used === listeningOf(this.#options.settings())) return;
      await this.#stop();
      await this.#start();
    });
  }

  /** The trust or the folders of the workspace have changed. */
  describe(): Promise<void> {
    return this.#next(async () => {
      if (this.#server !== undefined) await this.#writeFile(this.#server);
    });
  }

  broadcast(message: EditorMessage): void {
    this.#server?.broadcast(message);
  }

  dispose(): void {
    this.#options.windowFile.leaveNow();
    this.#server?.dispose();
    this.#server = undefined;
    this.#owned.dispose();
  }

  async #start(): Promise<void> {
    if (this.#server !== undefined || this.#owned.isDisposed) return;
    const { settings, windowFile, logger } = this.#options;
    try {
      const now = settings();
      const { port, allowWithoutToken, statePath } = now;
      this.#used = listeningOf(now);
      const server = await BridgeServer.start({
        ...this.#options,
        port,
        allowWithoutToken,
        tokenFile: windowFile.pathIn(statePath),
        holderOf: (wanted) => this.#holderOf(wanted, statePath),
      });
      server.onChange(() => this.#changed.fire());
      this.#server = server;
      await this.#writeFile(server);
      if (this.#owned.isDisposed) this.dispose();
      this.#fault = undefined;
    } catch (error) {
      this.#server?.dispose();
      this.#server = undefined;
      this.#fault = messageOf(error);
      logger.error('Programs cannot connect', { error });
      throw error;
    } finally {
      this.#changed.fire();
    }
  }

  async #stop(): Promise<void> {
    if (this.#server === undefined) return;
    this.#server.dispose();
    this.#server = undefined;
    this.#options.windowFile.removeNow();
    this.#options.logger.info('Disconnected');
    this.#changed.fire();
  }

  async #holderOf(port: number, statePath: string): Promise<PortHolder | undefined> {
    const window = await windowAtPort(port, statePath);
    if (window === undefined) return undefined;
    const { folders, leaving = false } = window;
    const isBefore = JSON.stringify(folders) === JSON.stringify(this.#options.folders());
    return { name: windowName({ folders }), isLeaving: leaving, isBefore };
  }

  async #writeFile(server: BridgeServer): Promise<void> {
    const { settings, windowFile } = this.#options;
    await windowFile.write(settings().statePath, server.port, server.access.token);
  }

  #next(step: () => Promise<void>): Promise<void> {
    const done = this.#last.then(step);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function listeningOf({ port, allowWithoutToken, statePath }: Settings): string {
  return JSON.stringify([port, allowWithoutToken, statePath]);
}
