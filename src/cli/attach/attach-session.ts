import { sleep } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { DisposableStore, toDisposable, type Disposable } from '../../base/lifecycle.js';
import { systemClock } from '../../base/system-clock.js';
import type { KeeperClient } from '../../keeper/host/keeper-client.js';
import type { TerminalPush } from '../../keeper/wire/messages.js';
import { RESET_TERMINAL } from '../../screen/reset-terminal.js';
import { SafeOutput } from '../../screen/safe-output.js';
import { isFinal, openDecisions, type TaskRecord } from '../../tasks/task.js';
import { shortId } from '../find-task.js';
import { localTime } from '../terminal-text.js';
import { answerFor, askingBar, AttachKeys, barAt } from './attach-bar.js';
import { sizeOf, takeTerminal, type UserTerminal } from './user-terminal.js';

/** Lines above the screen that are brought along, so that one can scroll back. */
const SCROLLBACK_LINES = 500;
/** How long a note is shown in the last row. */
const NOTE_MS = 5_000;
/** Before another try at a line that is cut. */
const AGAIN_MS = 1_000;
const CLEAR = '\x1b[H\x1b[J';
const BEGIN_UPDATE = '\x1b[?2026h';
const END_UPDATE = '\x1b[?2026l';
const BELL = '\x07';

export type AttachEnd =
  | { readonly how: 'detached' }
  | { readonly how: 'ended'; readonly record: TaskRecord }
  | { readonly how: 'lost' }
  | { readonly how: 'unusable'; readonly why: string; readonly exitCode: number };

/** The line to the machine of a task. */
export interface FarLine {
  readonly machine: string;
  /** Milliseconds since the epoch; undefined while it is not cut. */
  cutSinceMs(): number | undefined;
  /** Another link. Rejects with MACHINE_UNREACHABLE while the line is cut. */
  reopen(): Promise<KeeperClient>;
}

export interface AttachSessionOptions {
  readonly link: KeeperClient;
  /** Of a task on another machine. */
  readonly line?: FarLine | undefined;
  readonly terminal: UserTerminal;
  readonly record: TaskRecord;
  readonly detachKey: { readonly name: string; readonly byte: number };
  readonly readOnly: boolean;
}

/** A person's terminal on a task: shows the session, passes keys on, and answers decisions from a bar in the last row. */
export class AttachSession implements Disposable {
  readonly #options: AttachSessionOptions;
  readonly #owned = new DisposableStore();
  #link: KeeperClient;
  /** The bar while the line to the machine of the task is cut. */
  #cut: readonly string[] | undefined;
  readonly #keys: AttachKeys;
  readonly ended: Promise<AttachEnd>;
  #end: (end: AttachEnd) => void = () => undefined;
  #record: TaskRecord;
  #taken: Disposable | undefined;
  #asked: string | undefined;
  #isChoosing = false;
  /** Without a timer it stays until a key is pressed. */
  #note: { readonly text: string; readonly timer?: Disposable } | undefined;
  /** Its rows; none when nothing is to be said. */
  #bar: readonly string[] = [];
  #shown: TerminalPush['kind'] | undefined;
  #safe = new SafeOutput();
  #hadState = false;

  constructor(options: AttachSessionOptions) {
    const { link, record, detachKey } = options;
    this.#options = options;
    this.#record = record;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#keys = new AttachKeys(
      detachKey.byte,
      () => this.#cut === undefined && openDecisions(this.#record).length > 0,
    );
    this.#link = link;
    this.#owned.add(toDisposable(() => this.#link.dispose()));
    this.#listen(link);
  }

  /** Begins to watch. Throws TASK_NOT_RUNNING when the task has no terminal. */
  async start(): Promise<void> {
    const { readOnly } = this.#options;
    // A watcher scrolls back, which needs the last row, and may never press a key.
    if (readOnly) this.#setNote(this.#leaving);
    else this.#note = { text: this.#leaving };
    await this.#link.watch(this.#viewNow());
    this.#open();
  }

  /** Disposes the link, too. */
  dispose(): void {
    this.#note?.timer?.dispose();
    this.#owned.dispose();
    this.#taken?.dispose();
  }

  #listen(link: KeeperClient): void {
    link.onTerminal((push) => this.#show(push));
    link.onRecord((now) => this.#onRecord(now));
    link.onDidClose(() => void this.#onClosed());
  }

  /** A keeper that closes is gone; a line that was cut comes back, and all is shown as it then is. What is typed meanwhile goes nowhere. */
  async #onClosed(): Promise<void> {
    const { line, detachKey } = this.#options;
    if (isFinal(this.#record.status)) return this.#end({ how: 'ended', record: this.#record });
    this.#isChoosing = false;
    while (line !== undefined && !this.#owned.isDisposed) {
      const sinceMs = line.cutSinceMs();
      if (sinceMs !== undefined) {
        const since = localTime(sinceMs).slice(0, 'HH:MM'.length);
        const words = `the line to ${line.machine} is cut since ${since}; trying again`;
        this.#cut = [`${words} · ${detachKey.name} leaves`];
        if (this.#taken !== undefined) this.#view();
      }
      // Who has left closes the line, too.
      const link = await line
        .reopen()
        .catch((error: unknown) => (this.#owned.isDisposed ? 'gone' : unlessUnreachable(error)));
      if (link === 'gone') break;
      if (link !== undefined) return this.#goOn(link);
      await sleep(systemClock, AGAIN_MS);
    }
    this.#end({ how: 'lost' });
  }

  #goOn(link: KeeperClient): void {
    if (this.#owned.isDisposed) return link.dispose();
    this.#link = link;
    this.#cut = undefined;
    this.#listen(link);
    this.#reportRefusal(link.watch(this.#viewNow()));
  }

  /** Once the keeper shows something: it sends the screen before it answers the request to watch. */
  #open(): void {
    if (this.#taken !== undefined) return;
    const { terminal } = this.#options;
    this.#taken = takeTerminal(
      terminal,
      (keys) => this.#onTyped(keys),
      () => this.#view(),
      (why, exitCode) => this.#end({ how: 'unusable', why, exitCode }),
    );
    // What stood there stays readable above.
    this.#write('\n'.repeat(sizeOf(terminal).rows) + CLEAR);
  }

  /** False when the terminal does not keep up. */
  #write(data: string | Uint8Array): boolean {
    return this.#options.terminal.output.write(data);
  }

  #viewNow(): Parameters<KeeperClient['watch']>[0] {
    const { terminal, readOnly } = this.#options;
    this.#bar = this.#barNow();
    return {
      ...sizeOf(terminal),
      read_only: readOnly,
      covered: this.#bar.length > 0,
      scrollback: this.#hadState ? 0 : SCROLLBACK_LINES,
    };
  }

  /** Asks for what is to be seen now: the size or the bar is another one. */
  #view(): void {
    const { terminal } = this.#options;
    if (this.#cut !== undefined) return void this.#write(barAt(this.#cut, sizeOf(terminal)));
    this.#reportRefusal(this.#link.watch(this.#viewNow()));
    if (this.#shown === 'picture') this.#write(barAt(this.#bar, sizeOf(terminal)));
  }

  #show({ kind, data }: TerminalPush): void {
    this.#open();
    const { terminal, line } = this.#options;
    const link = this.#link;
    const isOutput = kind === 'output';
    const isNew = kind === 'state' || (!isOutput && this.#shown !== 'picture');
    if (!isOutput) this.#write(BEGIN_UPDATE + (isNew ? RESET_TERMINAL + BEGIN_UPDATE + CLEAR : ''));
    this.#shown = kind;
    this.#hadState ||= kind === 'state';
    if (!isOutput) this.#safe = new SafeOutput();
    const bytes = Buffer.from(data, 'base64');
    // A keeper here has done so already; another machine is not trusted with this terminal.
    const isTaken = this.#write(line === undefined ? bytes : this.#safe.filter(bytes));
    if (isOutput ? isTaken : this.#write(barAt(this.#bar, sizeOf(terminal)) + END_UPDATE)) return;
    // The keeper applies backpressure, and sends the newest state when the terminal reads again.
    link.pause();
    terminal.output.once('drain', () => link.resume());
  }

  #onRecord(record: TaskRecord): void {
    this.#record = record;
    if (isFinal(record.status)) return this.#end({ how: 'ended', record });
    const [first] = openDecisions(record);
    if (first?.decision_id === this.#asked) return;
    this.#asked = first?.decision_id;
    this.#isChoosing = false;
    if (first !== undefined) this.#write(BELL);
    this.#view();
  }

  #onTyped(typed: Buffer): void {
    if (this.#note !== undefined && this.#note.timer === undefined) this.#noteLeaving();
    const { readOnly } = this.#options;
    for (const action of this.#keys.read(typed)) {
      if (action.kind === 'detach') return this.#end({ how: 'detached' });
      if (this.#cut !== undefined) continue;
      if (action.kind === 'choosing' || action.kind === 'chosen') {
        this.#isChoosing = action.kind === 'choosing';
        this.#view();
        if (action.kind === 'chosen') this.#choose(action.key);
      } else if (action.kind === 'leaving' || readOnly) this.#noteLeaving();
      else this.#reportRefusal(this.#link.type(action.bytes));
    }
  }

  /** Answers with a key; another one than those of the bar ends the choice. */
  #choose(key: string): void {
    const { terminal } = this.#options;
    const decision = openDecisions(this.#record).find(({ decision_id }) => decision_id === this.#asked);
    if (decision === undefined || !/^[ysn1-9]$/.test(key)) return;
    const answer = answerFor(decision, key, sizeOf(terminal));
    if (answer === undefined) this.#setNote(`'${key}' is no answer to this`);
    else this.#reportRefusal(this.#link.respond(answer));
  }

  /** How to leave comes first: no terminal is too narrow for it. */
  get #leaving(): string {
    const { detachKey, readOnly, record } = this.#options;
    const what = readOnly ? 'watching only' : 'your keys go to the session';
    return `${detachKey.name} leaves · ${shortId(record.task_id)} · ${what}`;
  }

  /** The bar of a decision says it, too. */
  #noteLeaving(): void {
    if (openDecisions(this.#record).length > 0) this.#note = undefined;
    else this.#setNote(this.#leaving);
  }

  #setNote(text: string): void {
    this.#note?.timer?.dispose();
    const timer = systemClock.after(NOTE_MS, () => {
      this.#note = undefined;
      this.#view();
    });
    this.#note = { text, timer };
    if (this.#shown !== undefined) this.#view();
  }

  #barNow(): readonly string[] {
    const { detachKey, terminal } = this.#options;
    const [first, ...others] = openDecisions(this.#record);
    const note = first === undefined || this.#note?.timer !== undefined ? this.#note : undefined;
    if (note !== undefined && !this.#isChoosing) return [note.text];
    if (first === undefined) return [];
    const more = others.length;
    return askingBar(
      first,
      { more, detachKey: detachKey.name, isChoosing: this.#isChoosing },
      sizeOf(terminal),
    );
  }

  /** Shows a request that the keeper refused in the bar. A request that was lost with the connection is reported by its end. */
  #reportRefusal(request: Promise<unknown>): void {
    request.catch((error: unknown) => {
      if (!this.#owned.isDisposed) this.#setNote(messageOf(error));
    });
  }
}

/** `gone`: the machine answers, and its task has no terminal any more. */
function unlessUnreachable(error: unknown): 'gone' | undefined {
  if (!(error instanceof BridgeError)) throw error;
  return error.code === 'MACHINE_UNREACHABLE' ? undefined : 'gone';
}
