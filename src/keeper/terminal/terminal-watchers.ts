import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { SessionTerminal } from '../../claude/session-terminal.js';
import type { TerminalSize } from '../../pty/child.js';
import type { TerminalView } from '../wire/task-messages.js';
import { TerminalWatcher, type WatcherLine } from './terminal-watcher.js';

/** Below this the dialogs of Claude Code are cut and unreadable. */
const MIN_COLUMNS = 60;
const MIN_ROWS = 16;
/** A watcher that changes its view more often than this is shown the last one: a picture costs up to 0.1 s. */
const VIEW_QUIET_MS = 50;
/** Keys within this are one event of the journal. */
const TYPED_QUIET_MS = 1_000;

export interface TerminalWatchersOptions {
  readonly clock: Clock;
  /** Undefined before the program runs, and for a session without a terminal. */
  readonly terminal: () => SessionTerminal | undefined;
  readonly journal: { append(type: string, fields: Readonly<Record<string, unknown>>): unknown };
  readonly recording: { typed(text: string): void; resized(columns: number, rows: number): void };
  /** A person types: fired before the keys reach the session. */
  readonly onTyped: () => void;
  /** A person has taken the session over, until the result is disposed. */
  readonly hold: () => Disposable;
}

interface Watching {
  readonly watcher: TerminalWatcher;
  held: Disposable | undefined;
}

/**
 * Those who watch a session's terminal, and who may type into it. The session has the smallest size of those who may
 * type; when the last of them has left, it has its own again.
 */
export class TerminalWatchers implements Disposable {
  readonly #options: TerminalWatchersOptions;
  readonly #all = new Map<WatcherLine, Watching>();
  #ownSize: TerminalSize | undefined;
  #typedBytes = 0;
  #typed: Disposable | undefined;
  readonly #changed = new Set<TerminalWatcher>();
  #fitsSoon: Disposable | undefined;

  constructor(options: TerminalWatchersOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#all.size;
  }

  /** Begins to watch, or changes the view. Throws TASK_NOT_RUNNING when there is no terminal. */
  watch(line: WatcherLine, view: TerminalView): void {
    const terminal = this.#mustHave();
    const watching = this.#all.get(line);
    if (watching !== undefined) {
      watching.watcher.setView(view);
      this.#changed.add(watching.watcher);
      this.#fitsSoon ??= this.#options.clock.after(VIEW_QUIET_MS, () => this.#showChanged());
      return;
    }
    const watcher = new TerminalWatcher(terminal, view, line, this.#options.clock);
    this.#all.set(line, { watcher, held: undefined });
    this.#options.journal.append('attached', {
      columns: view.columns,
      rows: view.rows,
      read_only: view.read_only,
      watchers: this.#all.size,
    });
    if (!this.#fit(terminal)) watcher.show();
  }

  /** Types for a watcher. Throws INVALID_ARGUMENTS for one that may not, TASK_NOT_RUNNING when nothing accepts the keys. */
  type(line: WatcherLine, keys: Buffer): void {
    const terminal = this.#mustHave();
    const watching = this.#all.get(line);
    if (watching === undefined || watching.watcher.view.read_only) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        'Keys were typed by somebody who does not watch the terminal, or only watches it.',
        'Attach without --read-only.',
      );
    }
    watching.held ??= this.#options.hold();
    this.#options.onTyped();
    if (terminal.write(keys) !== 'taken') throw noTerminal('its program takes no more keys');
    this.#options.recording.typed(keys.toString('utf8'));
    this.#note(keys.length);
  }

  /** What was sent to this watcher has been read. */
  caughtUp(line: WatcherLine): void {
    this.#all.get(line)?.watcher.caughtUp();
  }

  leave(line: WatcherLine): void {
    const watching = this.#all.get(line);
    if (watching === undefined) return;
    this.#all.delete(line);
    watching.watcher.dispose();
    this.tellTyped();
    this.#options.journal.append('detached', { watchers: this.#all.size });
    const terminal = this.#options.terminal();
    if (terminal !== undefined) this.#fit(terminal);
    watching.held?.dispose();
  }

  /** Writes down at once what was typed; before the journal is closed. */
  tellTyped(): void {
    this.#typed?.dispose();
    this.#typed = undefined;
    if (this.#typedBytes === 0) return;
    this.#options.journal.append('typed', { by: 'terminal', bytes: this.#typedBytes });
    this.#typedBytes = 0;
  }

  /** Shows everybody what the session showed last. */
  finish(): void {
    for (const { watcher } of this.#all.values()) watcher.finish();
  }

  dispose(): void {
    this.#typed?.dispose();
    this.#fitsSoon?.dispose();
    for (const { watcher } of this.#all.values()) watcher.dispose();
    this.#all.clear();
  }

  #mustHave(): SessionTerminal {
    const terminal = this.#options.terminal();
    if (terminal !== undefined) return terminal;
    throw noTerminal('it has not begun, or its driver has none');
  }

  /** Gives the session the size that its watchers ask for; true when it is another one and everybody was shown it. */
  #fit(terminal: SessionTerminal): boolean {
    this.#ownSize ??= terminal.size;
    const writers = [...this.#all.values()]
      .map(({ watcher }) => watcher.view)
      .filter((view) => !view.read_only);
    const wanted =
      writers.length === 0
        ? this.#ownSize
        : {
            columns: Math.max(MIN_COLUMNS, Math.min(...writers.map((view) => view.columns))),
            rows: Math.max(MIN_ROWS, Math.min(...writers.map((view) => view.rows))),
          };
    if (wanted.columns === terminal.size.columns && wanted.rows === terminal.size.rows) return false;
    terminal.resize(wanted);
    this.#options.recording.resized(wanted.columns, wanted.rows);
    for (const { watcher } of this.#all.values()) watcher.show();
    return true;
  }

  #showChanged(): void {
    this.#fitsSoon = undefined;
    const changed = [...this.#changed];
    this.#changed.clear();
    const terminal = this.#options.terminal();
    if (terminal === undefined || this.#fit(terminal)) return;
    for (const watcher of changed) watcher.show();
  }

  #note(bytes: number): void {
    this.#typedBytes += bytes;
    this.#typed ??= this.#options.clock.after(TYPED_QUIET_MS, () => this.tellTyped());
  }
}

/** The error for a watcher when there is nothing to watch. */
export function noTerminal(why: string): BridgeError {
  return new BridgeError(
    'TASK_NOT_RUNNING',
    `The task has no terminal to attach to: ${why}.`,
    'Follow its log instead.',
  );
}
