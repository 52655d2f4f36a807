import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { sleep, type Clock } from '../../base/clock.js';
import { readJsonFile } from '../../base/files/json-file.js';
import { shellWord } from '../../base/text.js';
import type { SessionUsage } from '../session.js';
import { findTranscripts, TranscriptTail } from '../transcripts.js';
import { UsageTotals } from '../usage.js';

/** Claude Code writes a message 50 to 450 ms after the hook of a call in it, on a busy machine (2.1.330, 2.1.332). */
const WRITE_LIMIT_MS = 5_000;
const READ_INTERVAL_MS = 50;
/** Its status line hears of a message some 300 to 550 ms after it, also while the hook of a call in it waits (2.1.330, 2.1.332). */
const STATUS_LIMIT_MS = 1_000;
const MAX_STATUS_BYTES = 65_536;
/** Follows the name of the file with the last report, in that of the file with the first. */
const FIRST = '.first';

/** What Claude Code tells the command of its status line 300 ms after each message (2.1.330, 2.1.332). */
const statusSchema = z.object({ cost: z.object({ total_cost_usd: z.number().nonnegative() }) });

/** What Claude Code leaves of a session in its state file when it is left (2.1.330, 2.1.332), not when it is killed. */
const stateSchema = z.object({
  projects: z.record(
    z.string(),
    z.object({ lastSessionId: z.string(), lastCost: z.number().nonnegative() }).optional().catch(undefined),
  ),
});

/** A command for the status line that shows nothing. It leaves in `file` the last report, and the first one in `file`.first. */
export function statusCommand(file: string): string {
  const [target, first, part] = [file, `${file}${FIRST}`, `${file}.`].map((path) => shellWord(path, '/'));
  const temporary = `${part}$$`;
  return `cat >${temporary} && { [ -e ${first} ] || cp ${temporary} ${first}; } && mv ${temporary} ${target}`;
}

export interface ToldUsageOptions {
  readonly configDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly sessionId: string;
  readonly statusFile: string;
  /** Set for a session that begins as a copy of another one: Claude Code counts the cost of that, too. */
  readonly resume?: unknown;
  readonly clock: Clock;
}

/** What an interactive session has used: its tokens by its transcripts, its cost by its status line. */
export class ToldUsage {
  readonly #options: ToldUsageOptions;
  readonly #sinceMs: number;
  readonly #tails = new Map<string, TranscriptTail>();
  readonly #totals = new UsageTotals();
  readonly #calls = new Set<string>();
  /** When the newest message was written. */
  #lastMs = 0;
  /** False once a call, or the cost, was not told in time: that may never come. */
  #isWaitedFor = true;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(options: ToldUsageOptions) {
    this.#options = options;
    this.#sinceMs = options.clock.now();
  }

  /** See `SessionDriver.usage`. `isOver`: its process has ended. Throws the system's error when a transcript cannot be read. */
  async read(callId: string | undefined, isOver: boolean): Promise<SessionUsage | undefined> {
    const { clock, statusFile } = this.#options;
    const [askedMs, sinceMs] = [clock.now(), clock.monotonicMs()];
    for (;;) {
      const toldMs = statSync(statusFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      await this.#readNew();
      const lastCost = isOver ? await this.#lastCost() : undefined;
      // It was killed before it told the cost of its last message.
      if (isOver && lastCost === undefined && toldMs < this.#lastMs) return undefined;
      const costUsd = await this.#cost(lastCost);
      const passedMs = clock.monotonicMs() - sinceMs;
      const isNew = costUsd !== null && (toldMs >= askedMs || passedMs >= STATUS_LIMIT_MS);
      const isWhole = callId === undefined || (this.#calls.has(callId) && isNew);
      if (passedMs >= WRITE_LIMIT_MS) this.#isWaitedFor = false;
      if (isWhole || (!this.#isWaitedFor && passedMs >= STATUS_LIMIT_MS)) {
        const models = Object.fromEntries(this.#totals.byModel);
        return this.#tails.size === 0 ? undefined : { models, costUsd };
      }
      await sleep(clock, READ_INTERVAL_MS);
    }
  }

  /** Null until the first report. */
  async #cost(lastCost: number | undefined): Promise<number | null> {
    const { statusFile, resume } = this.#options;
    const total = lastCost ?? (await costIn(statusFile));
    const before = resume == null ? 0 : await costIn(`${statusFile}${FIRST}`);
    return total === undefined || before === undefined ? null : Math.max(0, total - before);
  }

  /** The status line is not told of the last message when the session is left at once. */
  async #lastCost(): Promise<number | undefined> {
    const { configDir, env, sessionId } = this.#options;
    const folder = env['CLAUDE_CONFIG_DIR'] === undefined ? dirname(configDir) : configDir;
    const file = await readJsonFile(join(folder, '.claude.json'), stateSchema);
    if (file.state !== 'ok') return undefined;
    return Object.values(file.value.projects).find((last) => last?.lastSessionId === sessionId)?.lastCost;
  }

  /** One reader at a time: each reads on where the one before it ended. */
  #readNew(): Promise<void> {
    const read = this.#reading.then(async () => {
      const { configDir, sessionId } = this.#options;
      for (const path of await findTranscripts(configDir, sessionId)) {
        const tail = this.#tails.get(path) ?? new TranscriptTail(path, this.#sinceMs);
        this.#tails.set(path, tail);
        for await (const entry of tail.readNew()) {
          if (entry.kind !== 'assistant') continue;
          this.#lastMs = Math.max(this.#lastMs, entry.atMs);
          if (entry.usage !== undefined) this.#totals.add(entry.messageId, entry.model, entry.usage);
          for (const { id } of entry.uses) this.#calls.add(id);
        }
      }
    });
    this.#reading = read.catch(() => undefined);
    return read;
  }
}

async function costIn(file: string): Promise<number | undefined> {
  const status = await readJsonFile(file, statusSchema, MAX_STATUS_BYTES);
  return status.state === 'ok' ? status.value.cost.total_cost_usd : undefined;
}
