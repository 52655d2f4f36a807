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

/**
 * The watchers of a session's terminal; some may type into it. The session gets the smallest size of those that may type, and its
 * own size again when the last of them has left.
 */
export class TerminalWatchers implements Disposable {
  readonly #options: TerminalWatchersOptions;
  readonly #all = new Map<WatcherLine, TerminalWatcher>();
  /** Those that have typed. They hold the session, and the last of them for a while after it was lost. */
  readonly #typists = new Set<WatcherLine>();
  #held: Disposable | undefined;
  #lost: Disposable | undefined;
  #ownSize: TerminalSize | undefined;
  #typedBytes = 0;
  #typed: Disposable | undefined;
  readonly #changed = new Set<TerminalWatcher>();
  #fitsSoon: Disposable | undefined;

  constructor(options: TerminalWatchersOptions) {
    this.#options = options;
  }

  /** Begins to watch, or changes the view. Throws TASK_NOT_RUNNING when there is no terminal. */
  watch(line: WatcherLine, view: TerminalView): void {
    const { clock, journal } = this.#options;
    const terminal = this.#mustHave();
    const known = this.#all.get(line);
    if (known !== undefined) {
      known.setView(view);
      if (view.read_only) this.#stopsTyping(line, 0);
      this.#changed.add(known);
      this.#fitsSoon ??= clock.after(VIEW_QUIET_MS, () => this.#showChanged());
      return;
    }
    const watcher = new TerminalWatcher(terminal, view, line, clock);
    this.#all.set(line, watcher);
    const { columns, rows, read_only } = view;
    journal.append('attached', { columns, rows, read_only, watchers: this.#all.size });
    if (!this.#fit(terminal)) watcher.show();
  }

  /** Types for a watcher. Throws INVALID_ARGUMENTS for one that may not, TASK_NOT_RUNNING when nothing accepts the keys. */
  type(line: WatcherLine, keys: Buffer): void {
    const { clock, recording, hold, onTyped } = this.#options;
    const terminal = this.#mustHave();
    if (this.#all.get(line)?.view.read_only ?? true) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        'Keys were sent by a client that is not attached to the terminal, or is attached read-only.',
        'Attach without --read-only.',
      );
    }
    this.#typists.add(line);
    this.#held ??= hold();
    // Who types now holds the session instead of one that is lost.
    this.#lost?.dispose();
    this.#lost = undefined;
    onTyped();
    if (terminal.write(keys) !== 'taken') throw noTerminal('its program accepts no more keys');
    recording.typed(keys.toString('utf8'));
    this.#typedBytes += keys.length;
    this.#typed ??= clock.after(TYPED_QUIET_MS, () => this.recordTyped());
  }

  /** This watcher has read all that was sent. */
  caughtUp(line: WatcherLine): void {
    this.#all.get(line)?.caughtUp();
  }

  leave(line: WatcherLine): void {
    const watcher = this.#all.get(line);
    if (watcher === undefined) return;
    this.#all.delete(line);
    watcher.dispose();
    this.recordTyped();
    this.#options.journal.append('detached', { watchers: this.#all.size });
    const terminal = this.#options.terminal();
    if (terminal !== undefined) this.#fit(terminal);
    // A window that is loaded again, or whose board has ended, comes back: until then the session does not end.
    this.#stopsTyping(line, watcher.view.hold_seconds ?? 0);
  }

  /** Records at once what was typed; called before the journal is closed. */
  recordTyped(): void {
    this.#typed?.dispose();
    this.#typed = undefined;
    if (this.#typedBytes > 0)
      this.#options.journal.append('typed', { by: 'terminal', bytes: this.#typedBytes });
    this.#typedBytes = 0;
  }

  /** Sends every watcher the last screen. */
  finish(): void {
    for (const watcher of this.#all.values()) watcher.finish();
  }

  dispose(): void {
    for (const timer of [this.#typed, this.#fitsSoon, this.#lost]) timer?.dispose();
    for (const watcher of this.#all.values()) watcher.dispose();
    this.#all.clear();
  }

  #stopsTyping(line: WatcherLine, holdSeconds: number): void {
    if (!this.#typists.delete(line)) return;
    if (holdSeconds > 0) {
      this.#lost?.dispose();
      this.#lost = this.#options.clock.after(holdSeconds * 1_000, () => {
        this.#lost = undefined;
        this.#letGo();
      });
    }
    this.#letGo();
  }

  #letGo(): void {
    if (this.#typists.size > 0 || this.#lost !== undefined) return;
    this.#held?.dispose();
    this.#held = undefined;
  }

  #mustHave(): SessionTerminal {
    const terminal = this.#options.terminal();
    if (terminal !== undefined) return terminal;
    throw noTerminal('it has not started, or its driver uses none');
  }

  /** Gives the session the size that its watchers need; true when it changed, and every watcher was shown the new one. */
  #fit(terminal: SessionTerminal): boolean {
    this.#ownSize ??= terminal.size;
    const views = [...this.#all.values()].map(({ view }) => view).filter((view) => !view.read_only);
    const columns = Math.max(MIN_COLUMNS, Math.min(...views.map((view) => view.columns)));
    const rows = Math.max(MIN_ROWS, Math.min(...views.map((view) => view.rows)));
    const wanted = views.length === 0 ? this.#ownSize : { columns, rows };
    if (wanted.columns === terminal.size.columns && wanted.rows === terminal.size.rows) return false;
    terminal.resize(wanted);
    this.#options.recording.resized(wanted.columns, wanted.rows);
    for (const watcher of this.#all.values()) watcher.show();
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
}

/** The error for a watcher when there is nothing to watch. */
export function noTerminal(why: string): BridgeError {
  return new BridgeError(
    'TASK_NOT_RUNNING',
    `The task has no terminal to attach to: ${why}.`,
    'Follow its log instead.',
  );
}
