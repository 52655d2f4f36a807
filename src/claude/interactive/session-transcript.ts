import { z } from 'zod';
import { commandOf } from '../../approvals/tool-table.js';
import { sleep, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import {
  backgroundCommandEnd,
  type CommandEnd,
  ENDED_WITH_SESSION,
  INTERRUPTED,
} from '../command-outcome.js';
import { commandIdOf, findCommandOutputs, readCommandOutput } from '../command-output.js';
import type { SessionEvent } from '../session.js';
import { toolFinished, type ToolUsed } from '../tool-events.js';
import { toolSummary } from '../tool-summary.js';
import type { ToolUse, TranscriptEntry } from '../transcript-entry.js';
import { findTranscripts } from '../transcript-files.js';
import { NO_MODEL } from '../usage-totals.js';
import { TranscriptTail } from '../transcript-tail.js';
import type { OpenTools } from './open-tools.js';

/** More than the tool calls that are open at the same time. */
const MAX_OPEN_TOOLS = 1_000;
/**
 * The CLI writes a message to its transcript after it has posted the hook of the tool in it: 100 to 250 ms later (2.1.330), and more on
 * a busy machine. Only where no transcript is written this is waited for in vain, once.
 */
const WRITE_LIMIT_MS = 5_000;
const READ_INTERVAL_MS = 50;
const backgroundSchema = z.object({ backgroundTaskId: z.string() });
const stoppedSchema = z.object({ task_id: z.string() });

export interface SessionTranscriptOptions {
  readonly cwd: string;
  /** The id that the CLI was started with. */
  readonly sessionId: string;
  /** Where the CLI stores its transcripts on this machine; undefined if they must not be read. */
  readonly configDir: string | undefined;
  /** Of the CLI: it says where the output of commands is. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** Reports from a session's transcript what no hook reports: what the assistant says, and how calls ended that were denied or cut off. */
export class SessionTranscript {
  readonly #options: SessionTranscriptOptions;
  readonly #fire: (event: SessionEvent) => void;
  readonly #tools: OpenTools;
  readonly #sinceMs: number;
  /** Commands in the background, by the id of their call. */
  readonly #background = new Map<string, { readonly use: ToolUsed; readonly commandId: string }>();
  /** The newest tool calls that were read. */
  readonly #used = new Map<string, ToolUsed>();
  /** What was read and belongs behind an event that is still to come. */
  readonly #unreported: TranscriptEntry[] = [];
  readonly #kept = new Map<string, { readonly use: ToolUsed; readonly output: string }>();
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
  #hasAnswer = false;

  /** `tools`: the calls of whose start hooks told, and not of their end. */
  constructor(options: SessionTranscriptOptions, fire: (event: SessionEvent) => void, tools: OpenTools) {
    this.#options = options;
    this.#tools = tools;
    this.#sinceMs = options.clock.now();
    this.#sessionId = options.sessionId;
    this.#fire = fire;
  }

  /** Reports what is new, in order, with one reader at a time; at most until the tool call with the id `until`. */
  read(until?: string): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      try {
        this.#unreported.push(...(await this.#readNew()));
        while (until === undefined || !this.#used.has(until)) {
          const entry = this.#unreported.shift();
          if (entry === undefined) return;
          await this.#report(entry);
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
   * Reports what the assistant said before a tool call of which a hook was posted at `postedMs` (monotonic): it is written later.
   */
  async readUntilUsed(toolUseId: string | undefined, postedMs: number): Promise<void> {
    const { clock, configDir } = this.#options;
    for (;;) {
      await this.read(toolUseId);
      const isFound = toolUseId === undefined || this.#used.has(toolUseId);
      if (isFound || this.#isLost || !this.#isWritten || configDir === undefined) return;
      if (clock.monotonicMs() - postedMs >= WRITE_LIMIT_MS) {
        this.#isWritten = false;
        return;
      }
      await sleep(clock, READ_INTERVAL_MS);
    }
  }

  /** An answer of the model was read. */
  get hasAnswer(): boolean {
    return this.#hasAnswer;
  }

  /** Reports what a hook says of the end of a turn, unless the transcript said it already. */
  sayLast(text: string): void {
    const isSaid = isSame(text, this.#lastRead);
    this.#lastRead = '';
    if (text === '' || isSaid) return;
    this.#saidBefore = text;
    this.#fire({ type: 'said', text });
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

  async #report(entry: TranscriptEntry): Promise<void> {
    if (entry.kind === 'assistant') {
      this.#hasAnswer = true;
      // Errors of the API, which are reported at the end of their turn.
      if (entry.model !== NO_MODEL) for (const text of entry.texts) this.#say(text, entry.atMs);
      for (const use of entry.uses) this.#remember(use);
      return;
    }
    if (entry.kind === 'prompt-blocked') {
      this.#fire({ type: 'prompt-blocked', reason: entry.reason });
      return;
    }
    if (entry.kind === 'background-ended') {
      this.#reportBackgroundEnd(entry.toolUseId, entry.exitCode, entry.outputFile);
      return;
    }
    for (const outcome of entry.outcomes) {
      // Claude Code posts no hook of the end of a call that a rule denied, or that it refused itself, nor always of its start.
      const denied = outcome.deniedBy === undefined ? undefined : this.#used.get(outcome.id);
      const open = this.#tools.take(outcome.id) ?? denied;
      const isReported = outcome.stopped === 'running' && this.reportInterrupted(outcome.id);
      if (open !== undefined && !isReported)
        this.#fire(toolFinished(open, outcome, this.#options.cwd, entry.cwd));
    }
  }

  /** A hook told that the command goes on in the background; `details`: what it says of it. */
  wentOn(use: ToolUsed, details: unknown): void {
    const commandId = backgroundSchema.safeParse(details).data?.backgroundTaskId ?? '';
    if (use.id !== undefined && this.#background.size < MAX_OPEN_TOOLS)
      this.#background.set(use.id, { use, commandId });
  }

  /** The agent stopped a command in the background, of whose end nothing else is written; `details`: what Claude Code says of it. */
  async stopped(details: unknown): Promise<void> {
    const id = stoppedSchema.safeParse(details).data?.task_id;
    const begun = [...this.#background.values()].find(({ commandId }) => commandId === id);
    if (begun?.use.id === undefined) return;
    const files = await findCommandOutputs(this.#options.env, this.#sessionId);
    const outputFile = files.find((file) => commandIdOf(file) === id) ?? '';
    this.#reportBackgroundEnd(begun.use.id, null, outputFile);
  }

  #reportBackgroundEnd(toolUseId: string, exitCode: number | null, outputFile: string): void {
    const begun = this.#background.get(toolUseId);
    if (begun === undefined) return;
    this.#background.delete(toolUseId);
    const output = readCommandOutput(outputFile, this.#sessionId);
    this.#reportCommandEnd(begun.use, backgroundCommandEnd(exitCode, output ?? ''));
  }

  /** Before a session is killed or its turn interrupted: reads what its running commands have printed, which is lost with them. */
  async keepOutputs(): Promise<void> {
    const sessionId = this.#sessionId;
    const inBackground = new Map(
      [...this.#background.values()].map(({ use, commandId }) => [commandId, use]),
    );
    const running = this.#tools.all.filter(({ tool }) => tool === 'Bash');
    if (running.length + inBackground.size === 0) return;
    const files = await findCommandOutputs(this.#options.env, sessionId);
    // Of commands that have ended the files may be left; the newest are of those that run.
    const others = files.filter((file) => !inBackground.has(commandIdOf(file)));
    const newest = others.slice(Math.max(0, others.length - running.length));
    const begun = running.slice(running.length - newest.length);
    const inFront = new Map(begun.map((use, index) => [newest[index], use]));
    for (const file of files) {
      const use = inBackground.get(commandIdOf(file)) ?? inFront.get(file);
      const output = use === undefined ? undefined : readCommandOutput(file, sessionId);
      if (use?.id !== undefined && output !== undefined && output !== '')
        this.#kept.set(use.id, { use, output });
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
      if (this.#tools.take(id) === undefined && !this.#background.has(id)) continue;
      this.#reportCommandEnd(use, { exitCode: null, note: ENDED_WITH_SESSION, output });
    }
    this.#kept.clear();
  }

  #reportCommandEnd({ id = '', tool, input }: ToolUsed, end: CommandEnd): void {
    this.#fire({
      type: 'command-ended',
      id,
      command: commandOf(tool, input) ?? '',
      summary: toolSummary(tool, input, this.#options.cwd),
      end,
    });
  }

  #remember(use: ToolUse): void {
    this.#isWritten = true;
    this.#used.set(use.id, use);
    const [oldest] = this.#used.keys();
    if (this.#used.size > MAX_OPEN_TOOLS && oldest !== undefined) this.#used.delete(oldest);
  }
}

function isSame(one: string, other: string): boolean {
  return one.trim() === other.trim();
}
