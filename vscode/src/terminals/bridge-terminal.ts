import { withinMs, type Clock } from '../../../src/base/clock.js';
import { DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import type { EditorTerminal } from '../../../src/editor/protocol.js';
import type { ShownTerminal } from '../editor.js';
import { CommandQueue } from './command-queue.js';
import { OutputBuffer } from './output-buffer.js';
import type { TerminalBackend } from './terminal-backend.js';

/** How far a program that follows the output may be behind before more is read, and how long it is waited for. */
const MAX_BEHIND_CHARS = 1024 * 1024;
const BEHIND_LIMIT_MS = 5_000;

/** A program that follows the output. */
export interface OutputReader {
  /** How many characters it was not sent yet. */
  readonly behind: number;
  caughtUp(): Promise<void>;
}

export interface TerminalFacts {
  readonly terminalId: string;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly cwd: string | undefined;
  readonly adopted: boolean;
  /** Of a terminal that was taken up again: the editor may show that of its shell for a while. */
  readonly name?: string;
}

/** A terminal that a program made: what it printed, and what is to be run in it. */
export class BridgeTerminal implements Disposable {
  readonly facts: TerminalFacts;
  readonly shown: ShownTerminal;
  readonly backend: TerminalBackend;
  readonly output = new OutputBuffer();
  readonly queue: CommandQueue;
  readonly readers = new Set<OutputReader>();
  readonly #owned = new DisposableStore();
  /** Of the shell. */
  pid: number | undefined;

  constructor(facts: TerminalFacts, shown: ShownTerminal, backend: TerminalBackend, clock: Clock) {
    this.facts = facts;
    this.shown = shown;
    this.backend = this.#owned.add(backend);
    backend.beforeMore = async () => {
      for (const reader of this.readers)
        if (reader.behind > MAX_BEHIND_CHARS) await withinMs(clock, BEHIND_LIMIT_MS, reader.caughtUp());
    };
    this.#owned.add(backend.onOutput((text) => this.output.append(text)));
    this.queue = this.#owned.add(new CommandQueue(backend, this.output, clock));
  }

  /** As programs see it. */
  describe(): EditorTerminal {
    const { terminalId, createdBy, createdAt, cwd, adopted, name } = this.facts;
    return {
      terminalId,
      terminalName: name ?? this.shown.name,
      createdBy,
      createdAt,
      shell: this.backend.shell ?? null,
      cwd: cwd ?? null,
      pid: this.pid ?? null,
      state: this.queue.isBusy ? 'busy' : 'idle',
      queued: this.queue.length,
      cursor: this.output.end,
      execution: this.queue.execution ?? null,
      adopted,
    };
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
