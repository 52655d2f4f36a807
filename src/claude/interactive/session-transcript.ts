import { z } from 'zod';
import { sleep, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import {
  backgroundCommandEnd,
  type CommandEnd,
  ENDED_WITH_SESSION,
  IN_BACKGROUND,
  INTERRUPTED,
  isDeniedAtDialog,
  PERHAPS_INTERRUPTED,
  toolEnd,
  type ToolEnd,
} from '../command-outcome.js';
import { commandIdOf, findCommandOutputs, readCommandOutput } from '../command-output.js';
import type { SessionEvent, TurnError } from '../session.js';
import { filesWritten, toolSummary } from '../tool-summary.js';
import type { ToolOutcome, ToolUse, TranscriptEntry } from '../transcript-entry.js';
import { findTranscripts } from '../transcript-files.js';
import { NO_MODEL } from '../usage-totals.js';
import { TranscriptTail } from '../transcript-tail.js';
import { troubleKindOf } from '../trouble/trouble-kind.js';

/** More than the tool calls that are open at the same time. */
const MAX_OPEN_TOOLS = 1_000;
/** The CLI writes a message to its transcript 100 to 250 ms after it has posted the hook of the tool in it (2.1.197 and 2.1.330). */
const WRITE_LIMIT_MS = 500;
const READ_INTERVAL_MS = 50;
const backgroundSchema = z.object({ backgroundTaskId: z.string() });

export interface SessionTranscriptOptions {
  readonly cwd: string;
  /** The id that the CLI was started with. */
  readonly sessionId: string;
  /** Where the CLI stores its transcripts on this machine; undefined if they must not be read. */
  readonly configDir: string | undefined;
  readonly clock: Clock;
}

/** What a session's transcript reports: what the assistant says, and for a session without hooks also its tools. */
export class SessionTranscript {
  readonly #options: SessionTranscriptOptions;
  readonly #fire: (event: SessionEvent) => void;
  readonly #sinceMs: number;
  readonly #openTools = new Map<string, ToolUse>();
  /** Commands in the background, by the id of their call. */
  readonly #background = new Map<string, { readonly use: ToolUse; readonly commandId: string }>();
  /** The ids of the newest tool calls that were read. */
  readonly #used = new Set<string>();
  /** What was read and belongs behind an event that is still to come. */
  readonly #unreported: TranscriptEntry[] = [];
  readonly #kept = new Map<string, { readonly use: ToolUse; readonly output: string }>();
  readonly #sessionId: string;
  #tail: TranscriptTail | undefined;
  #isLost = false;
  /** False after a call was not found in time, until one is: transcripts may be switched off. */
  #isWritten = true;
  #reading: Promise<void> = Promise.resolve();
  /** What the transcript said last in this turn. */
  #lastRead = '';
  /** What a hook reported as said, and the transcript will repeat. */
  #saidBefore = '';
  #turnError: TurnError | undefined;
  #hasEntries = false;
  /** Since then the turn is interrupted (milliseconds since the epoch); not while the assistant goes on. */
  #interruptedMs: number | undefined;

  constructor(options: SessionTranscriptOptions, fire: (event: SessionEvent) => void) {
    this.#options = options;
    this.#sinceMs = options.clock.now();
    this.#sessionId = options.sessionId;
    this.#fire = fire;
  }

  /** Reports what is new, in order, with one reader at a time; at most until the tool call with the id `until`. */
  read({ withTools, until }: { readonly withTools: boolean; readonly until?: string }): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      try {
        this.#unreported.push(...(await this.#readNew()));
        while (until === undefined || !this.#used.has(until)) {
          const entry = this.#unreported.shift();
          if (entry === undefined) return;
          await this.#report(entry, withTools);
        }
      } catch (error) {
        // The transcript only adds to the log; the session goes on without it.
        this.#isLost = true;
        this.#fire({ type: 'notice', text: `The transcript cannot be read: ${messageOf(error)}` });
      }
    });
    return this.#reading;
  }

  /**
   * Reports what the assistant said before a tool call of which a hook was posted at `postedMs` (monotonic): it is written later. A call
   * of a subagent is in another transcript, so the wait has a limit.
   */
  async readUntilUsed(toolUseId: string | undefined, postedMs: number): Promise<void> {
    const { clock, configDir } = this.#options;
    for (;;) {
      await this.read({ withTools: false, ...(toolUseId !== undefined && { until: toolUseId }) });
      const isFound = toolUseId === undefined || this.#used.has(toolUseId);
      if (isFound || this.#isLost || !this.#isWritten || configDir === undefined) return;
      if (clock.monotonicMs() - postedMs >= WRITE_LIMIT_MS) {
        this.#isWritten = false;
        return;
      }
      await sleep(clock, READ_INTERVAL_MS);
    }
  }

  /** Until the assistant goes on, a call that was refused or stopped was stopped. */
  interrupting(): void {
    this.#interruptedMs = this.#options.clock.now();
  }

  /** Something of this session was read. */
  get hasEntries(): boolean {
    return this.#hasEntries;
  }

  /** Resolves when a tool call without a result was read: its dialog is on the screen. */
  async readUntilCalled(): Promise<void> {
    const { clock, configDir } = this.#options;
    const sinceMs = clock.monotonicMs();
    for (;;) {
      await this.read({ withTools: true });
      if (this.#openTools.size > 0 || this.#isLost || !this.#isWritten || configDir === undefined) return;
      if (clock.monotonicMs() - sinceMs >= WRITE_LIMIT_MS) {
        this.#isWritten = false;
        return;
      }
      await sleep(clock, READ_INTERVAL_MS);
    }
  }

  /** Reports what a hook says of the end of a turn, unless the transcript said it already. */
  sayLast(text: string): void {
    const isSaid = isSame(text, this.#lastRead);
    this.#lastRead = '';
    if (text === '' || isSaid) return;
    this.#saidBefore = text;
    this.#fire({ type: 'said', text });
  }

  /** The error of the API that was the last thing in the transcript of the turn that has ended. */
  takeTurnError(): TurnError | undefined {
    const error = this.#turnError;
    this.#turnError = undefined;
    return error;
  }

  #say(text: string, atMs: number): void {
    if (isSame(text, this.#saidBefore)) {
      this.#saidBefore = '';
      return;
    }
    this.#lastRead = text;
    this.#fire({ type: 'said', text, atMs });
  }

  async #readNew(): Promise<TranscriptEntry[]> {
    const { configDir } = this.#options;
    if (this.#isLost || configDir === undefined) return [];
    if (this.#tail === undefined) {
      const [path] = await findTranscripts(configDir, this.#sessionId);
      if (path === undefined) return [];
      this.#tail = new TranscriptTail(path, this.#sinceMs);
    }
    return this.#tail.readNew();
  }

  async #report(entry: TranscriptEntry, withTools: boolean): Promise<void> {
    const { cwd } = this.#options;
    this.#hasEntries = true;
    if (entry.kind === 'assistant') {
      this.#turnError = entry.apiError && errorOf(entry.apiError, entry.texts);
      if (entry.atMs > (this.#interruptedMs ?? Infinity)) this.#interruptedMs = undefined;
      // Errors of the API, which are reported at the end of their turn.
      if (entry.model !== NO_MODEL) for (const text of entry.texts) this.#say(text, entry.atMs);
      for (const use of entry.uses) {
        this.#remember(use);
        const { tool, input } = use;
        if (withTools)
          this.#fire({ type: 'tool-started', tool, summary: toolSummary(tool, input, cwd), input });
      }
      return;
    }
    if (entry.kind === 'background-ended') {
      await this.#reportBackgroundEnd(entry);
      return;
    }
    for (const outcome of entry.outcomes) {
      const use = this.#openTools.get(outcome.id);
      this.#openTools.delete(outcome.id);
      if (use !== undefined) this.#rememberBackground(use, outcome);
      if (use !== undefined && outcome.deniedBy !== undefined) this.#reportDenied(use, outcome.deniedBy);
      // The decision is reported already.
      if (use === undefined || !withTools || this.#isDenied(outcome)) continue;
      const { tool, input } = use;
      const end = toolEnd(tool, outcome, this.#interruptedMs === undefined ? undefined : PERHAPS_INTERRUPTED);
      if (wasInterrupted(end) && this.reportInterrupted(outcome.id)) continue;
      this.#fire({
        type: 'tool-finished',
        tool,
        summary: toolSummary(tool, input, cwd),
        ...end,
        filesChanged: end.ok ? filesWritten(tool, input, entry.cwd ?? cwd) : [],
      });
    }
  }

  /** No hook tells of it. */
  #reportDenied({ tool, input }: ToolUse, error: string): void {
    const summary = toolSummary(tool, input, this.#options.cwd);
    this.#fire({ type: 'tool-finished', tool, summary, ok: false, error, filesChanged: [] });
  }

  #rememberBackground(use: ToolUse, outcome: ToolOutcome): void {
    if (use.tool !== 'Bash' || toolEnd(use.tool, outcome).command?.note !== IN_BACKGROUND) return;
    const commandId = backgroundSchema.safeParse(outcome.details).data?.backgroundTaskId ?? '';
    if (this.#background.size < MAX_OPEN_TOOLS) this.#background.set(use.id, { use, commandId });
  }

  /** Denied at the dialog, which is reported as a decision already: an interrupt has the same words. */
  #isDenied(outcome: ToolOutcome): boolean {
    return this.#interruptedMs === undefined && outcome.stopped !== 'running' && isDeniedAtDialog(outcome);
  }

  async #reportBackgroundEnd({
    toolUseId,
    exitCode,
    outputFile,
  }: Extract<TranscriptEntry, { kind: 'background-ended' }>): Promise<void> {
    const begun = this.#background.get(toolUseId);
    if (begun === undefined) return;
    this.#background.delete(toolUseId);
    const output = await readCommandOutput(outputFile, this.#sessionId);
    this.#reportCommandEnd(begun.use, backgroundCommandEnd(exitCode, output ?? ''));
  }

  /** Before a session is killed or its turn interrupted: reads what its running commands have printed, which is lost with them. */
  async keepOutputs(env: Readonly<Record<string, string | undefined>>): Promise<void> {
    const sessionId = this.#sessionId;
    const inBackground = new Map(
      [...this.#background.values()].map(({ use, commandId }) => [commandId, use]),
    );
    const running = [...this.#openTools.values()].filter(({ tool }) => tool === 'Bash');
    if (running.length + inBackground.size === 0) return;
    const files = await findCommandOutputs(env, sessionId);
    // Of commands that have ended the files may be left; the newest are of those that run.
    const others = files.filter((file) => !inBackground.has(commandIdOf(file)));
    const newest = others.slice(Math.max(0, others.length - running.length));
    const begun = running.slice(running.length - newest.length);
    const inFront = new Map(begun.map((use, index) => [newest[index], use]));
    for (const file of files) {
      const use = inBackground.get(commandIdOf(file)) ?? inFront.get(file);
      const output = use === undefined ? undefined : await readCommandOutput(file, sessionId);
      if (use !== undefined && output !== undefined && output !== '') this.#kept.set(use.id, { use, output });
    }
  }

  /** The turn was interrupted: reports what a command of it had printed. False when nothing was kept of it. */
  reportInterrupted(id: string): boolean {
    const kept = this.#kept.get(id);
    if (kept === undefined) return false;
    this.#kept.delete(id);
    this.#reportCommandEnd(kept.use, { ...INTERRUPTED, output: kept.output });
    return true;
  }

  /** The session is gone: reports what the commands that it cut off had printed. */
  reportKept(): void {
    for (const [id, { use, output }] of this.#kept) {
      if (!this.#openTools.has(id) && !this.#background.has(id)) continue;
      this.#reportCommandEnd(use, { exitCode: null, note: ENDED_WITH_SESSION, output });
    }
    this.#kept.clear();
  }

  #reportCommandEnd({ tool, input }: ToolUse, end: CommandEnd): void {
    const { command } = input;
    this.#fire({
      type: 'command-ended',
      command: typeof command === 'string' ? command : '',
      summary: toolSummary(tool, input, this.#options.cwd),
      end,
    });
  }

  #remember(use: ToolUse): void {
    if (this.#openTools.size < MAX_OPEN_TOOLS) this.#openTools.set(use.id, use);
    this.#isWritten = true;
    this.#used.add(use.id);
    const [oldest] = this.#used;
    if (this.#used.size > MAX_OPEN_TOOLS && oldest !== undefined) this.#used.delete(oldest);
  }
}

function wasInterrupted({ command }: ToolEnd): boolean {
  return command === INTERRUPTED || command === PERHAPS_INTERRUPTED || command?.note === INTERRUPTED.note;
}

function isSame(one: string, other: string): boolean {
  return one.trim() === other.trim();
}

function errorOf(
  { code, status }: { readonly code: string | undefined; readonly status: number | undefined },
  texts: readonly string[],
): TurnError {
  const text = texts.join('\n');
  return { kind: troubleKindOf({ code, status, text }), text };
}
