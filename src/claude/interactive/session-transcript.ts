import { z } from 'zod';
import { sleep, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { backgroundCommandEnd, IN_BACKGROUND } from '../command-outcome.js';
import { readCommandOutput } from '../command-output.js';
import type { SessionEvent } from '../session.js';
import {
  callIn,
  commandEnded,
  outcomeOf,
  toolFinished,
  toolStarted,
  type EndedHook,
  type ToolUsed,
} from '../tool-calls.js';
import type { ApiError, TranscriptEntry } from '../transcript-entry.js';
import { findTranscripts, TranscriptTail } from '../transcripts.js';
import { NO_MODEL } from '../usage.js';

/** More than the tool calls that are open at the same time. */
const MAX_OPEN_TOOLS = 1_000;
/**
 * The CLI writes a message to its transcript after it has posted the hook of the tool in it: 100 to 250 ms later (2.1.330), and more on
 * a busy machine. Only where no transcript is written this is waited for in vain, once.
 */
const WRITE_LIMIT_MS = 5_000;
const READ_INTERVAL_MS = 50;
const STOPPED = { isError: true, text: '', details: undefined, stopped: 'running' } as const;
const backgroundSchema = z.object({ backgroundTaskId: z.string() });
const stoppedSchema = z.object({ task_id: z.string() });

export interface SessionTranscriptOptions {
  readonly cwd: string;
  /** The id that the CLI was started with. */
  readonly sessionId: string;
  /** Where the CLI stores its transcripts on this machine; undefined if they must not be read. */
  readonly configDir: string | undefined;
  readonly clock: Clock;
}

/**
 * The calls of a session. Hooks report their starts and ends; the transcript reports what no hook does: what the assistant says, and how
 * calls ended that were denied or cut off, and commands in the background.
 */
export class SessionTranscript {
  readonly #options: SessionTranscriptOptions;
  readonly #fire: (event: SessionEvent) => void;
  readonly #sinceMs: number;
  /** The calls that hooks reported as started, and nothing as ended or denied. */
  #open: ToolUsed[] = [];
  /** Ids of calls whose end the transcript said before their hook came. */
  readonly #ended = new Set<string>();
  /** Commands in the background, by the id of their call. */
  readonly #background = new Map<string, { readonly use: ToolUsed; readonly commandId: string }>();
  /** The newest tool calls that were read. */
  readonly #used = new Map<string, ToolUsed>();
  /** What was read and belongs behind an event that is still to come. */
  readonly #unreported: TranscriptEntry[] = [];
  #tail: TranscriptTail | undefined;
  /** False where transcripts are not read, or could not be. */
  #canRead: boolean;
  /** False after a call was not found in time, until one is: transcripts may be switched off. */
  #isWritten = true;
  #reading: Promise<void> = Promise.resolve();
  /** What the transcript said last in this turn. */
  #lastRead = '';
  /** What a hook reported as said, and the transcript will repeat. */
  #saidBefore = '';
  #hasAnswer = false;
  /** The error of the API that ended the turn. */
  #error: ApiError | undefined;

  constructor(options: SessionTranscriptOptions, fire: (event: SessionEvent) => void) {
    this.#options = options;
    this.#sinceMs = options.clock.now();
    this.#canRead = options.configDir !== undefined;
    this.#fire = fire;
  }

  /** The error of the API that ended the turn, once it was read. */
  get error(): ApiError | undefined {
    return this.#error;
  }

  /** An answer of the model was read. */
  get hasAnswer(): boolean {
    return this.#hasAnswer;
  }

  /** A turn begins: no call of the one before it is open. */
  turnStarted(): void {
    this.#open = [];
    this.#ended.clear();
    this.#error = undefined;
  }

  started(call: ToolUsed): void {
    if (this.#open.length < MAX_OPEN_TOOLS) this.#open.push(call);
    this.#fire(toolStarted(call, this.#options.cwd));
  }

  /** A hook reported the end of a call. */
  finished(event: EndedHook): void {
    const [call, outcome] = [callIn(event), outcomeOf(event)];
    this.closed(call);
    const finished = toolFinished(call, outcome, this.#options.cwd, event.cwd);
    const { data } = backgroundSchema.safeParse(outcome.details);
    const isKept = call.id !== undefined && this.#background.size < MAX_OPEN_TOOLS;
    if (finished.command?.note === IN_BACKGROUND && data !== undefined && isKept)
      this.#background.set(call.id, { use: call, commandId: data.backgroundTaskId });
    if (call.id === undefined || !this.#ended.delete(call.id)) this.#fire(finished);
    if (call.tool === 'TaskStop') this.#stopped(outcome.details);
  }

  /** The call is not open any more. Without an id, as in a request, the input tells which call it is. */
  closed({ id, tool, input }: ToolUsed): void {
    const ofTool = this.#open.filter((call) => call.tool === tool);
    const call =
      ofTool.find((one) => id !== undefined && one.id === id) ??
      ofTool.find((one) => JSON.stringify(one.input) === JSON.stringify(input));
    this.#open = this.#open.filter((one) => one !== call);
  }

  /** The turn was interrupted: no hook reports the commands that ran. */
  turnInterrupted(): void {
    const commands = this.#open.filter(({ tool }) => tool === 'Bash');
    this.#open = [];
    for (const call of commands) this.#fire(toolFinished(call, STOPPED, this.#options.cwd));
  }

  /** Reports what is new, in order, with one reader at a time; at most until the tool call with the id `until`. */
  read(until?: string): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      try {
        await this.#readNew();
      } catch (error) {
        // The transcript only adds to the log; the session goes on without it.
        this.#canRead = false;
        this.#fire({ type: 'notice', text: `The transcript cannot be read: ${messageOf(error)}` });
      }
      while (until === undefined || !this.#used.has(until)) {
        const entry = this.#unreported.shift();
        if (entry === undefined) return;
        this.#report(entry);
      }
    });
    return this.#reading;
  }

  /**
   * Reports what the assistant said before a tool call, or before the error that ended its turn, of which a hook was posted at `postedMs`
   * (monotonic): it is written later.
   */
  async readUntil(
    { call, error }: { readonly call?: string | undefined; readonly error?: true },
    postedMs: number,
  ): Promise<void> {
    const { clock } = this.#options;
    const isRead = (): boolean =>
      (call === undefined || this.#used.has(call)) && (error !== true || this.#error !== undefined);
    for (;;) {
      await this.read(call);
      if (isRead() || !this.#canRead || !this.#isWritten) return;
      if (clock.monotonicMs() - postedMs >= WRITE_LIMIT_MS) this.#isWritten = false;
      else await sleep(clock, READ_INTERVAL_MS);
    }
  }

  /** Reports what a hook says of the end of a turn, unless the transcript said it already. */
  sayLast(text: string): void {
    const isSaid = text.trim() === this.#lastRead.trim();
    this.#lastRead = '';
    if (text === '' || isSaid) return;
    this.#saidBefore = text;
    this.#fire({ type: 'said', text });
  }

  #say(text: string, atMs: number): void {
    const isSaid = text.trim() === this.#saidBefore.trim();
    if (isSaid) this.#saidBefore = '';
    if (isSaid) return;
    this.#lastRead = text;
    this.#fire({ type: 'said', text, atMs });
  }

  async #readNew(): Promise<void> {
    const { configDir, sessionId } = this.#options;
    if (configDir === undefined || !this.#canRead) return;
    if (this.#tail === undefined) {
      const [path] = await findTranscripts(configDir, sessionId);
      if (path === undefined) return;
      this.#tail = new TranscriptTail(path, this.#sinceMs);
    }
    for await (const entry of this.#tail.readNew()) if (!entry.isSubagent) this.#unreported.push(entry);
  }

  #report(entry: TranscriptEntry): void {
    switch (entry.kind) {
      case 'assistant':
        this.#hasAnswer = true;
        this.#error = entry.error;
        // Errors of the API, which are reported at the end of their turn.
        if (entry.model !== NO_MODEL) for (const text of entry.texts) this.#say(text, entry.atMs);
        for (const use of entry.uses) this.#remember(use.id, use);
        return;
      case 'prompt-blocked':
        this.#fire({ type: 'prompt-blocked', reason: entry.reason });
        return;
      case 'background-ended':
        this.#backgroundEnded(entry.toolUseId, entry.exitCode, entry.outputFile);
        return;
      case 'results':
        for (const outcome of entry.outcomes) {
          // Claude Code posts no hook of the end of a call that a rule denied, or that it refused itself, nor always of its start.
          const denied = outcome.deniedBy === undefined ? undefined : this.#used.get(outcome.id);
          const call = this.#open.find(({ id }) => id === outcome.id) ?? denied;
          if (call === undefined) continue;
          this.#open = this.#open.filter((one) => one !== call);
          this.#ended.add(outcome.id);
          this.#fire(toolFinished(call, outcome, this.#options.cwd, entry.cwd));
        }
    }
  }

  /** The agent stopped a command in the background, of whose end nothing else is written; `details`: what Claude Code says of it. */
  #stopped(details: unknown): void {
    const id = stoppedSchema.safeParse(details).data?.task_id;
    const begun = [...this.#background].find(([, { commandId }]) => commandId === id);
    if (begun !== undefined) this.#backgroundEnded(begun[0], null, '');
  }

  #backgroundEnded(toolUseId: string, exitCode: number | null, outputFile: string): void {
    const begun = this.#background.get(toolUseId);
    if (begun === undefined) return;
    this.#background.delete(toolUseId);
    const output = readCommandOutput(outputFile, this.#options.sessionId) ?? '';
    this.#fire(commandEnded(begun.use, backgroundCommandEnd(exitCode, output), this.#options.cwd));
  }

  #remember(id: string, use: ToolUsed): void {
    this.#isWritten = true;
    this.#used.set(id, use);
    const [oldest] = this.#used.keys();
    if (this.#used.size > MAX_OPEN_TOOLS && oldest !== undefined) this.#used.delete(oldest);
  }
}
