// Pure.
import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { SessionTerminal } from '../../claude/session-terminal.js';
import type { TerminalSize } from '../../pty/child.js';
import type { TerminalView } from '../wire/messages.js';
import { TerminalWatcher, type WatcherLine } from './terminal-watcher.js';

/** In a smaller terminal the dialogs of Claude Code are cut off. */
const MIN_COLUMNS = 60;
const MIN_ROWS = 16;
/** Changes of a view within this time are shown as one: a picture takes up to 0.1 s. */
const VIEW_QUIET_MS = 50;
/** Keys within this time are one event of the journal. */
const TYPED_QUIET_MS = 1_000;

export interface TerminalWatchersOptions {
  readonly clock: Clock;
  /** Undefined before the program runs, and for a session without a terminal. */
  readonly terminal: () => SessionTerminal | undefined;
  readonly journal: { append(type: string, fields: Readonly<Record<string, unknown>>): unknown };
  readonly recording: { typed(text: string): void; resized(columns: number, rows: number): void };
  /** A person types: fired before the keys reach the session. */
  readonly onTyped: () => void;
  /** A person uses the session until the result is disposed. */
  readonly hold: () => Disposable;
}

interface Watching {
  readonly watcher: TerminalWatcher;
  held: Disposable | undefined;
}

/**
 * The watchers of a session's terminal; some may type into it. The session gets the smallest size of those that may type, and its
 * own size again when the last of them has left.
 */
export class TerminalWatchers implements Disposable {
  readonly #options: TerminalWatchersOptions;
  readonly #all = new Map<WatcherLine, Watching>();
  #ownSize: TerminalSize | undefined;
  #typedBytes = 0;
  #typed: Disposable | undefined;
  readonly #changed = new Set<TerminalWatcher>();
  /** Of those that are lost and hold the session for a while. */
  readonly #lost = new Map<Watching, Disposable>();
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
      if (view.read_only) this.#letGo(watching);
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
        'Keys were sent by a client that is not attached to the terminal, or is attached read-only.',
        'Attach without --read-only.',
      );
    }
    watching.held ??= this.#options.hold();
    // Who types now holds the session instead of those that are lost.
    this.#letGoOfLost();
    this.#options.onTyped();
    if (terminal.write(keys) !== 'taken') throw noTerminal('its program accepts no more keys');
    this.#options.recording.typed(keys.toString('utf8'));
    this.#note(keys.length);
  }

  /** This watcher has read all that was sent. */
  caughtUp(line: WatcherLine): void {
    this.#all.get(line)?.watcher.caughtUp();
  }

  leave(line: WatcherLine): void {
    const watching = this.#all.get(line);
    if (watching === undefined) return;
    this.#all.delete(line);
    watching.watcher.dispose();
    this.recordTyped();
    this.#options.journal.append('detached', { watchers: this.#all.size });
    const terminal = this.#options.terminal();
    if (terminal !== undefined) this.#fit(terminal);
    this.#letGoSoon(watching);
  }

  /** A window that is loaded again, or whose board has ended, comes back: until then the session does not end. */
  #letGoSoon(watching: Watching): void {
    const { hold_seconds: seconds = 0 } = watching.watcher.view;
    if (watching.held === undefined || seconds === 0) {
      this.#letGo(watching);
      return;
    }
    const timer = this.#options.clock.after(seconds * 1_000, () => {
      this.#lost.delete(watching);
      this.#letGo(watching);
    });
    this.#lost.set(watching, timer);
  }

  #letGoOfLost(): void {
    for (const [watching, timer] of this.#lost) {
      timer.dispose();
      this.#letGo(watching);
    }
    this.#lost.clear();
  }

  /** Who no longer types holds the session no longer. */
  #letGo(watching: Watching): void {
    watching.held?.dispose();
    watching.held = undefined;
  }

  /** Records at once what was typed; called before the journal is closed. */
  recordTyped(): void {
    this.#typed?.dispose();
    this.#typed = undefined;
    if (this.#typedBytes === 0) return;
    this.#options.journal.append('typed', { by: 'terminal', bytes: this.#typedBytes });
    this.#typedBytes = 0;
  }

  /** Sends every watcher the last screen. */
  finish(): void {
    for (const { watcher } of this.#all.values()) watcher.finish();
  }

  dispose(): void {
    this.#typed?.dispose();
    this.#fitsSoon?.dispose();
    for (const timer of this.#lost.values()) timer.dispose();
    this.#lost.clear();
    for (const { watcher } of this.#all.values()) watcher.dispose();
    this.#all.clear();
  }

  #mustHave(): SessionTerminal {
    const terminal = this.#options.terminal();
    if (terminal !== undefined) return terminal;
    throw noTerminal('it has not started, or its driver uses none');
  }

  /** Gives the session the size that its watchers need; true when it changed, and every watcher was shown the new one. */
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
    this.#typed ??= this.#options.clock.after(TYPED_QUIET_MS, () => this.recordTyped());
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
