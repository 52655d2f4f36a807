import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ignoreMissing, ignoreSystemError } from '../base/errors.js';
import { openRegularFile } from '../base/files/regular-file.js';
import { parseTranscriptLine, type TranscriptEntry } from './transcript-entry.js';
import { UsageTotals, type ModelUsage } from './usage.js';

/** More subagents than one session starts. */
const MAX_SUBAGENTS = 1_000;
const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const READ_BYTES = 256 * 1024;
/** A longer line holds a pasted file or an image, and nothing for a log or a sum. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Where the CLI stores its files: `CLAUDE_CONFIG_DIR`, else `.claude` in the home directory. */
export function claudeConfigDir(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const configured = env['CLAUDE_CONFIG_DIR'];
  if (configured !== undefined && configured !== '') return configured;
  return env['HOME'] === undefined ? undefined : join(env['HOME'], '.claude');
}

/**
 * The transcript of a session and those of its subagents; empty if there is none (transcripts can be disabled). Searches the folders of
 * all projects, since the way the CLI names them is not documented.
 */
export async function findTranscripts(configDir: string, sessionId: string): Promise<string[]> {
  if (!SESSION_ID.test(sessionId)) return [];
  const projects = join(configDir, 'projects');
  for (const project of await namesIn(projects)) {
    const transcript = join(projects, project, `${sessionId}.jsonl`);
    if (!(await isFile(transcript))) continue;
    const folder = join(dirname(transcript), sessionId, 'subagents');
    // Those of workflows are in folders of their own.
    const subagents = (await namesIn(folder, true)).filter((name) => name.endsWith('.jsonl'));
    return [transcript, ...subagents.slice(0, MAX_SUBAGENTS).map((name) => join(folder, name))];
  }
  return [];
}

/** Follows a transcript and returns its entries, each once. */
export class TranscriptTail {
  readonly #path: string;
  readonly #sinceMs: number;
  #offset = 0;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #isWhole = true;

  /** Older entries than `sinceMs` (milliseconds since the epoch) are left out: a continued session begins with a copy of the other one. */
  constructor(path: string, sinceMs: number) {
    this.#path = path;
    this.#sinceMs = sinceMs;
  }

  /** False once a line was too long, or the file cannot be read. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The entries added since the last call; none while the file does not exist. Throws the system's error. */
  async *readNew(signal?: AbortSignal): AsyncGenerator<TranscriptEntry> {
    const opened = await openRegularFile(this.#path);
    if (opened.state !== 'open') {
      this.#isWhole &&= opened.state === 'missing';
      return;
    }
    try {
      for (;;) {
        if (signal?.aborted === true) this.#isWhole = false;
        if (signal?.aborted === true) return;
        const buffer = Buffer.allocUnsafe(READ_BYTES);
        const { bytesRead } = await opened.file.read(buffer, 0, READ_BYTES, this.#offset);
        if (bytesRead === 0) return;
        this.#offset += bytesRead;
        yield* this.#take(buffer.subarray(0, bytesRead));
      }
    } finally {
      await opened.file.close();
    }
  }

  *#take(chunk: Buffer): Generator<TranscriptEntry> {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      const entry = parseTranscriptLine(Buffer.concat(this.#rest).toString('utf8'));
      if (entry !== undefined && entry.atMs >= this.#sinceMs) yield entry;
      this.#rest = [];
      this.#restBytes = 0;
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(piece: Buffer): void {
    this.#restBytes += piece.length;
    if (this.#restBytes <= MAX_LINE_BYTES) {
      this.#rest.push(piece);
      return;
    }
    this.#rest = [];
    this.#isWhole = false;
  }
}

/**
 * Adds up the tokens in transcripts since `sinceMs` (milliseconds since the epoch). `signal` stops the reading early. `isWhole` is false
 * when something was skipped: a too long line, or the rest after the abort. `onEntry` gets each entry.
 */
export async function readUsage(
  paths: readonly string[],
  sinceMs: number,
  signal: AbortSignal,
  onEntry?: (entry: TranscriptEntry) => void,
): Promise<{ readonly usage: ReadonlyMap<string, ModelUsage>; readonly isWhole: boolean }> {
  const totals = new UsageTotals();
  let isWhole = true;
  for (const path of paths) {
    const tail = new TranscriptTail(path, sinceMs);
    for await (const entry of tail.readNew(signal)) {
      onEntry?.(entry);
      if (entry.kind === 'assistant' && entry.usage !== undefined)
        totals.add(entry.messageId, entry.model, entry.usage);
    }
    isWhole &&= tail.isWhole;
  }
  return { usage: totals.byModel, isWhole };
}

async function namesIn(folder: string, recursive = false): Promise<string[]> {
  return (await readdir(folder, { recursive }).catch(ignoreMissing)) ?? [];
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(ignoreSystemError))?.isFile() === true;
}
