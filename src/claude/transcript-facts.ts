import { z } from 'zod';
import { openRegularFile } from '../base/files/regular-file.js';
import {
  backgroundCommandEnd,
  commandOutcome,
  ENDED_WITH_SESSION,
  IN_BACKGROUND,
  type CommandEnd,
} from './command-outcome.js';
import { commandOf } from '../approvals/tool-table.js';
import { filesWritten, toolSummary } from './tool-summary.js';
import {
  parseTranscriptLine,
  type ToolOutcome,
  type ToolUse,
  type TranscriptEntry,
} from './transcript-entry.js';
import { UsageTotals, type ModelUsage } from './usage-totals.js';

const READ_BYTES = 256 * 1024;
/** A longer line holds a pasted file or an image, which a receipt does not need. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** A larger transcript is read up to this size, and the result says so. */
const MAX_BYTES = 256 * 1024 * 1024;
/** The most calls without a result; a session has a few at a time. */
const MAX_OPEN = 10_000;
const NEWLINE = 0x0a;

/** Receives the facts of a transcript, in order. */
export interface TranscriptListener {
  onCommand(command: string, end: CommandEnd): void;
  /** An absolute path. */
  onWrite(path: string, change: 'created' | 'changed'): void;
  /** A call that was denied, or refused before it started. */
  onRefused(tool: string, summary: string, why: string): void;
  /** A call that a rule denied. */
  onDenied(summary: string, why: string): void;
  /** A command that was refused, or stopped while it ran: the transcript does not tell which. */
  onStopped(command: string, summary: string, why: string): void;
  /** Whether these are the words with which a call of that summary was denied: an agent's caller can write what a failed command prints. */
  isDenial(summary: string, text: string): boolean;
}

export interface TranscriptTotals {
  readonly usage: ReadonlyMap<string, ModelUsage>;
  /** False when something was skipped: a too long line, or the rest after the limit or the abort. */
  readonly isWhole: boolean;
}

/** The words of a refusal in both pinned versions; other errors of a tool are not refusals. */
const REFUSED =
  /permission to use|has been denied|was denied|doesn't want to (proceed|take this action)|haven't granted|requires approval|was rejected|blocked by|denied by/i;
const writeSchema = z.object({ type: z.string().optional(), originalFile: z.string().nullish() });

/**
 * Reads transcripts and reports what was done since `sinceMs` (milliseconds since the epoch): a session that continues another begins
 * with a copy of it. `signal` stops the reading early.
 */
export async function readTranscripts(
  paths: readonly string[],
  options: { readonly sinceMs: number; readonly cwd: string; readonly signal: AbortSignal },
  listener: TranscriptListener,
): Promise<TranscriptTotals> {
  const usage = new UsageTotals();
  let isWhole = true;
  for (const path of paths) {
    const facts = new Facts(options, listener, usage);
    const isRead = await readLines(path, options.signal, (line) => facts.take(line));
    if (isRead) facts.finish();
    isWhole &&= isRead;
  }
  return { usage: usage.byModel, isWhole };
}

class Facts {
  readonly #options: { readonly sinceMs: number; readonly cwd: string };
  readonly #listener: TranscriptListener;
  readonly #usage: UsageTotals;
  readonly #open = new Map<string, ToolUse>();
  /** Commands in the background, by the id of their call. */
  readonly #background = new Map<string, { readonly command: string; readonly end: CommandEnd }>();

  constructor(
    options: { readonly sinceMs: number; readonly cwd: string },
    listener: TranscriptListener,
    usage: UsageTotals,
  ) {
    this.#options = options;
    this.#listener = listener;
    this.#usage = usage;
  }

  take(line: Buffer): void {
    // Most lines are of other kinds, and parsing all of them would take ten times as long.
    const isOther = !line.includes('"type":"assistant"') && !line.includes('"type":"user"');
    if (isOther && !line.includes('<task-notification>')) return;
    const entry = parseTranscriptLine(line.toString('utf8'));
    // An invalid time (NaN) does not count as earlier.
    if (entry === undefined || entry.atMs < this.#options.sinceMs) return;
    if (entry.kind === 'assistant') this.#onAssistant(entry);
    else if (entry.kind === 'background-ended') this.#onBackgroundEnded(entry);
    else for (const outcome of entry.outcomes) this.#onOutcome(outcome, entry.cwd ?? this.#options.cwd);
  }

  /** A command that has no result was running, or waited to run, when the session ended. */
  finish(): void {
    for (const { tool, input } of this.#open.values()) {
      const command = commandOf(tool, input);
      if (command !== undefined) this.#listener.onCommand(command, UNFINISHED);
    }
    this.#open.clear();
    for (const { command, end } of this.#background.values())
      this.#listener.onCommand(command, { ...end, note: 'ran in the background until the session ended' });
    this.#background.clear();
  }

  #onAssistant(entry: Extract<TranscriptEntry, { kind: 'assistant' }>): void {
    if (entry.usage !== undefined) this.#usage.add(entry.messageId, entry.model, entry.usage);
    for (const use of entry.uses) if (this.#open.size < MAX_OPEN) this.#open.set(use.id, use);
  }

  #onBackgroundEnded({ toolUseId, exitCode }: Extract<TranscriptEntry, { kind: 'background-ended' }>): void {
    const begun = this.#background.get(toolUseId);
    if (begun === undefined || !this.#background.delete(toolUseId)) return;
    this.#listener.onCommand(begun.command, backgroundCommandEnd(exitCode, begun.end.output));
  }

  #onOutcome(outcome: ToolOutcome, cwd: string): void {
    const use = this.#open.get(outcome.id);
    if (use === undefined || !this.#open.delete(outcome.id)) return;
    const { tool, input } = use;
    const summary = toolSummary(tool, input, this.#options.cwd);
    if (outcome.deniedBy !== undefined) {
      this.#listener.onDenied(summary, outcome.deniedBy);
      return;
    }
    const command = commandOf(tool, input);
    if (tool === 'Bash' && command !== undefined) {
      const isDenied = outcome.isError && this.#listener.isDenial(summary, outcome.text);
      const ended = commandOutcome(isDenied ? { ...outcome, stopped: 'before' } : outcome);
      if (ended.ran === true && ended.note === IN_BACKGROUND)
        this.#background.set(outcome.id, { command, end: ended });
      else if (ended.ran === true) this.#listener.onCommand(command, ended);
      else if (ended.ran === 'unknown') this.#listener.onStopped(command, summary, ended.why);
      else this.#listener.onRefused(tool, summary, ended.why);
      return;
    }
    if (outcome.isError) {
      if (REFUSED.test(outcome.text)) this.#listener.onRefused(tool, summary, outcome.text);
      return;
    }
    if (command !== undefined) this.#listener.onCommand(command, WATCHED);
    for (const path of filesWritten(tool, input, cwd))
      this.#listener.onWrite(path, changeOf(outcome.details));
  }
}

/** The result of another tool than Bash comes when its command has begun. */
const WATCHED: CommandEnd = {
  exitCode: null,
  note: 'it was watched, and how it ended is not known',
  output: '',
};
export const UNFINISHED: CommandEnd = { exitCode: null, note: ENDED_WITH_SESSION, output: '' };

function changeOf(details: unknown): 'created' | 'changed' {
  const write = writeSchema.safeParse(details).data;
  return write?.type === 'create' || write?.originalFile === null ? 'created' : 'changed';
}

/** True when the whole file was read; a missing file counts as read. */
async function readLines(path: string, signal: AbortSignal, take: (line: Buffer) => void): Promise<boolean> {
  const opened = await openRegularFile(path);
  if (opened.state !== 'open') return opened.state === 'missing';
  const { file } = opened;
  try {
    let rest: Buffer[] = [];
    let restBytes = 0;
    let isWhole = true;
    for (let at = 0; ;) {
      if (signal.aborted || at >= MAX_BYTES) return false;
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, at);
      if (bytesRead === 0) return isWhole;
      at += bytesRead;
      const chunk = buffer.subarray(0, bytesRead);
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        const last = chunk.subarray(from, end);
        if (restBytes + last.length > MAX_LINE_BYTES) isWhole = false;
        else take(rest.length === 0 ? last : Buffer.concat([...rest, last]));
        rest = [];
        restBytes = 0;
        from = end + 1;
      }
      restBytes += bytesRead - from;
      // No more is buffered of a line that is too long.
      if (restBytes > MAX_LINE_BYTES) rest = [];
      else rest.push(chunk.subarray(from));
    }
  } finally {
    await file.close();
  }
}
