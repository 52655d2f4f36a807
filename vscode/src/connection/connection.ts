import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { messageOf } from '../../../src/base/errors.js';
import { Emitter, DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import {
  editorFile,
  newEditorId,
  sweepEditorWindows,
  windowAtPort,
  writeEditorWindow,
  type EditorWindow,
} from '../../../src/editor/discovery.js';
import { windowName } from '../../../src/editor/editor-fault.js';
import type { EditorMessage } from '../../../src/editor/protocol.js';
import { ownIdentity } from '../../../src/store/process-identity.js';
import type { Settings } from '../settings.js';
import { BridgeServer, type PortHolder } from './bridge-server.js';
import type { Answering } from './client.js';

export interface ConnectionState {
  readonly isConnected: boolean;
  /** A sentence for the person. */
  readonly text: string;
}

export interface ConnectionOptions extends Omit<Answering, 'tokenFile'> {
  /** Throws an error with what is wrong in them. */
  readonly settings: () => Settings;
  /** What the discovery file says of this window besides its id, its port and its token. */
  readonly facts: () => Omit<EditorWindow, 'id' | 'port' | 'token' | 'owner'>;
}

/** Whether programs can connect to this window: a server and its discovery file, both or neither. */
export class Connection implements Disposable {
  readonly #options: ConnectionOptions;
  readonly #id = newEditorId();
  readonly #owned = new DisposableStore();
  readonly #changed = this.#owned.add(new Emitter<void>());
  readonly onChange = this.#changed.event;
  #server: BridgeServer | undefined;
  /** The discovery file. */
  #written: { readonly path: string; readonly window: EditorWindow } | undefined;
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
    const { programs, port, elsewhere } = server;
    const names = programs.length === 0 ? 'no program is connected' : `connected: ${programs.join(', ')}`;
    const text = `listening on ws://localhost:${port}; ${names}${elsewhere === undefined ? '' : `; ${elsewhere}`}.`;
    return { isConnected: true, text };
  }

  /** Listens; when it listens elsewhere, at the fixed port if that is free now. Throws what keeps it from listening. */
  connect(): Promise<void> {
    return this.#next(async () => {
      if (this.#server === undefined) return this.#start();
      await this.#server.listen();
      await this.#writeFile();
    });
  }

  disconnect(): Promise<void> {
    return this.#next(async () => this.#stop());
  }

  /** With other settings, where they differ; stays disconnected when it is. A file of the workspace that sets nothing ends no connection. */
  reconnect(): Promise<void> {
    return this.#next(async () => {
      if (this.#server === undefined || this.#used === listeningOf(this.#options.settings())) return;
      this.#stop();
      await this.#start();
    });
  }

  /** The trust or the folders of the workspace have changed. */
  describe(): Promise<void> {
    return this.#next(() => this.#writeFile());
  }

  broadcast(message: EditorMessage): void {
    this.#server?.broadcast(message);
  }

  /** Synchronous, for a window that closes. Its file says so until its process has ended, and is then removed by another window. */
  dispose(): void {
    const { path = '', window } = this.#written ?? {};
    if (existsSync(path)) writeFileSync(path, JSON.stringify({ ...window, leaving: true }));
    this.#written = undefined;
    this.#server?.dispose();
    this.#server = undefined;
    this.#owned.dispose();
  }

  async #start(): Promise<void> {
    if (this.#server !== undefined || this.#owned.isDisposed) return;
    const { settings, logger } = this.#options;
    try {
      const now = settings();
      const { port, allowWithoutToken, statePath } = now;
      this.#used = listeningOf(now);
      this.#server = await BridgeServer.start({
        ...this.#options,
        ...{ port, allowWithoutToken },
        tokenFile: editorFile(this.#id, statePath),
        holderOf: (wanted) => this.#holderOf(wanted, statePath),
      });
      this.#server.onChange(() => this.#changed.fire());
      await this.#writeFile();
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

  #stop(): void {
    if (this.#server === undefined) return;
    this.#server.dispose();
    this.#server = undefined;
    if (this.#written !== undefined) rmSync(this.#written.path, { force: true });
    this.#written = undefined;
    this.#options.logger.info('Disconnected');
    this.#changed.fire();
  }

  async #holderOf(port: number, statePath: string): Promise<PortHolder | undefined> {
    const window = await windowAtPort(port, statePath);
    if (window === undefined) return undefined;
    const { folders, leaving = false } = window;
    const isBefore = JSON.stringify(folders) === JSON.stringify(this.#options.facts().folders);
    return { name: windowName({ folders }), isLeaving: leaving, isBefore };
  }

  /** Throws STATE_UNUSABLE. */
  async #writeFile(): Promise<void> {
    if (this.#server === undefined) return;
    const { settings, facts } = this.#options;
    const { statePath } = settings();
    await sweepEditorWindows(statePath);
    const { port, access } = this.#server;
    const window = { ...facts(), id: this.#id, port, token: access.token, owner: await ownIdentity() };
    this.#written = { path: editorFile(this.#id, statePath), window };
    await writeEditorWindow(window, statePath);
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
