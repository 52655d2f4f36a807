import type { Clock } from '../../../src/base/clock.js';
import { DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import type { Logger } from '../../../src/base/logger.js';
import type { Editor, ShownTerminal } from '../editor.js';
import { BridgeTerminal } from './bridge-terminal.js';
import type { KeptTerminals } from './kept-terminals.js';
import { ShellBackend } from './shell-backend.js';
import type { TerminalRegistry } from './terminal-registry.js';

export interface AdoptionOptions {
  readonly editor: Editor;
  readonly registry: TerminalRegistry;
  readonly kept: KeptTerminals;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keeps on disk which terminals programs made, and takes them up again when the window was loaded again: their shells have lived on. */
export class Adoption implements Disposable {
  readonly #options: AdoptionOptions;
  readonly #owned = new DisposableStore();

  constructor(options: AdoptionOptions) {
    this.#options = options;
    const { editor, registry } = options;
    this.#owned.add(registry.onAdded((terminal) => this.#try(this.#keep(terminal))));
    this.#owned.add(editor.onDidOpenTerminal((shown) => this.#try(this.#adopt(shown))));
    this.#owned.add(editor.onDidCloseTerminal(() => this.#try(this.#closed())));
    this.#try(this.#start());
  }

  dispose(): void {
    this.#owned.dispose();
  }

  async #start(): Promise<void> {
    const { editor, kept } = this.#options;
    await kept.sweep();
    for (const shown of editor.terminals()) this.#try(this.#adopt(shown));
  }

  async #keep(terminal: BridgeTerminal): Promise<void> {
    if (terminal.pid === undefined) return;
    const { terminalId, createdBy, createdAt, cwd } = terminal.facts;
    await this.#options.kept.keep(terminal.pid, {
      terminal_id: terminalId,
      name: terminal.describe().terminalName,
      created_by: createdBy,
      created_at: createdAt,
      cwd: cwd ?? null,
      shell: terminal.backend.shell ?? null,
    });
  }

  async #adopt(shown: ShownTerminal): Promise<void> {
    const { editor, registry, kept, clock, logger } = this.#options;
    const pid = await shown.processId;
    const found = pid === undefined ? undefined : await kept.find(pid);
    if (found === undefined || this.#owned.isDisposed || shown.exitStatus !== undefined) return;
    if (registry.has(found.terminal_id)) return;
    const shell = found.shell ?? undefined;
    const backend = new ShellBackend({ editor, terminal: shown, shell, clock, logger });
    const facts = {
      terminalId: found.terminal_id,
      createdBy: found.created_by,
      createdAt: found.created_at,
      cwd: found.cwd ?? undefined,
      adopted: true,
      name: found.name,
    };
    registry.add(new BridgeTerminal(facts, shown, backend, clock));
    logger.info('A terminal was taken up again', { terminal: found.terminal_id, pid });
  }

  /** Its shell ends, or lives on in a window that is loaded again. */
  async #closed(): Promise<void> {
    await this.#options.kept.sweep();
  }

  #try(work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.logger.warn('A terminal is not kept', { error }));
  }
}
