import type { Clock } from '../../../src/base/clock.js';
import { DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import type { EditorTerminal } from '../../../src/editor/protocol.js';
import type { ShownTerminal } from '../editor.js';
import { CommandQueue } from './command-queue.js';
import { OutputBuffer } from './output-buffer.js';
import type { ShellBackend } from './shell-backend.js';

export interface TerminalFacts {
  readonly terminalId: string;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly cwd: string | undefined;
}

/** A terminal that a program made: what it printed, and what is to be run in it. */
export class BridgeTerminal implements Disposable {
  readonly facts: TerminalFacts;
  readonly shown: ShownTerminal;
  readonly backend: ShellBackend;
  readonly output = new OutputBuffer();
  readonly queue: CommandQueue;
  readonly #owned = new DisposableStore();
  /** Of the shell. */
  pid: number | undefined;

  constructor(facts: TerminalFacts, shown: ShownTerminal, backend: ShellBackend, clock: Clock) {
    this.facts = facts;
    this.shown = shown;
    this.backend = this.#owned.add(backend);
    this.#owned.add(backend.onOutput((text) => this.output.append(text)));
    this.queue = this.#owned.add(new CommandQueue(backend, this.output, clock));
  }

  /** As programs see it. */
  describe(): EditorTerminal {
    const { terminalId, createdBy, createdAt, cwd } = this.facts;
    return {
      terminalId,
      terminalName: this.shown.name,
      createdBy,
      createdAt,
      shell: this.backend.shell ?? null,
      cwd: cwd ?? null,
      pid: this.pid ?? null,
      state: this.queue.isBusy ? 'busy' : 'idle',
      queued: this.queue.length,
      cursor: this.output.end,
      execution: this.queue.execution ?? null,
    };
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
