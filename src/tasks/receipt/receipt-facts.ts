import { printedSchema } from '../../claude/command-outcome.js';
import { z } from 'zod';
import { oneLine } from '../../base/text.js';
import { findTranscripts, readUsage } from '../../claude/transcripts.js';
import type { ModelUsage } from '../../claude/usage.js';
import { readJournal } from '../../store/journal-reader.js';
import type { JournalEntry } from '../../store/journal-line.js';
import { BUDGET } from '../budget/budget.js';
import { leftoverWords } from '../run/task-story.js';
import { CommandRuns } from './receipt-runs.js';
import {
  pathFromProject,
  type Denial,
  type ModelTokens,
  type Receipt,
  type SeenFile,
  type UsageReport,
} from './receipt.js';
import type { TaskRecord } from '../task.js';

const MAX_FILES = 1_000;
const MAX_DENIALS = 100;
/** More than the calls that are open at the same time. */
const MAX_OPEN = 10_000;
const REASON_CHARS = 300;
/** The last ones are reported. */
const MAX_TROUBLES = 20;
const JOURNAL_PAGE_BYTES = 1024 * 1024;
const UNTOLD = 'Nothing told which commands ran: no hook of the session was seen.';

export type ReceiptFacts = Pick<
  Receipt,
  | 'commands'
  | 'commands_source'
  | 'commands_total'
  | 'commands_failed'
  | 'files'
  | 'files_total'
  | 'denials'
  | 'denials_total'
  | 'usage'
> & {
  readonly notes: readonly string[];
};

const id = z.string().optional();
const events = z.discriminatedUnion('type', [
  z.object({ type: z.literal('turn-started'), source: z.string() }),
  z.object({
    type: z.literal('tool-started'),
    id,
    summary: z.string(),
    command: z.string().optional(),
  }),
  z.object({
    type: z.literal('tool-finished'),
    id,
    summary: z.string(),
    ok: z.boolean(),
    files_changed: z.array(z.string()),
    created: z.boolean().default(false),
    command: z.string().optional(),
    exit_code: z.int().nullish(),
    note: z.string().optional(),
    ...printedSchema.shape,
    error: z.string().optional(),
    denied: z.enum(['rule', 'session']).optional(),
  }),
  z.object({
    type: z.literal('command-ended'),
    id,
    exit_code: z.int().nullable(),
    note: z.string().optional(),
    ...printedSchema.shape,
  }),
  z.object({
    type: z.literal('decision-closed'),
    decision_id: id,
    summary: z.string(),
    verdict: z.string().nullable(),
    edits: z.array(z.object({ field: z.string(), allowed: z.string() })).optional(),
  }),
  z.object({
    type: z.literal('turn-ended'),
    interrupted: z.boolean(),
    usage: z
      .object({
        models: z.record(
          z.string(),
          z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() }),
        ),
        costUsd: z.number().nullable(),
      })
      .optional(),
  }),
  z.object({ type: z.literal('budget'), refused: z.string().optional() }),
  z.object({ type: z.literal('trouble'), at: z.string(), kind: z.string(), text: z.string() }),
  z.object({ type: z.literal('trouble-over'), at: z.string() }),
  z.object({ type: z.literal('leftovers-ended'), programs: z.array(z.string()) }),
]);
type Event = z.infer<typeof events>;
type Of<Type extends Event['type']> = Extract<Event, { type: Type }>;

/**
 * What a task did: its journal, folded, and the tokens that the session's transcript counts where the CLI reports none. Throws
 * STATE_UNUSABLE for a journal that cannot be read.
 */
export async function readReceiptFacts(
  record: TaskRecord,
  paths: { readonly journal: string; readonly configDir: string | undefined },
  sinceMs: number,
  signal: AbortSignal,
): Promise<ReceiptFacts> {
  const facts = new Facts(record);
  await facts.readJournal(paths.journal, signal);
  await facts.readTranscript(paths.configDir, sinceMs, signal);
  return facts.result();
}

class Facts {
  readonly #record: TaskRecord;
  readonly #runs = new CommandRuns();
  /** The calls that have begun and not ended. */
  readonly #open = new Map<string, Of<'tool-started'>>();
  /** The decisions whose end the journal has. */
  readonly #closed = new Set<string>();
  /** Calls that did not run, since the budget was used up. */
  readonly #refused = new Set<string>();
  #isTold = false;
  readonly #files = new Map<string, 'created' | 'changed'>();
  readonly #denials: Denial[] = [];
  #denialsTotal = 0;
  readonly #notes: string[] = [];
  readonly #troubles: string[] = [];
  /** The trouble that is not over yet. */
  #trouble: string | undefined;
  #usage: UsageReport = { source: 'unknown', models: [], cost_usd: 'unknown' };

  constructor(record: TaskRecord) {
    this.#record = record;
    for (const { summary, verdict, answered_by, reason } of record.decisions)
      if (verdict === 'deny') this.#deny({ summary, by: answered_by ?? 'unknown', reason: reason ?? '' });
  }

  async readJournal(path: string, signal: AbortSignal): Promise<void> {
    for (let afterSeq = 0; !signal.aborted;) {
      const page = await readJournal(path, { afterSeq, maxBytes: JOURNAL_PAGE_BYTES });
      if (page.gone > 0 && afterSeq === 0)
        this.#notes.push(`The first ${page.gone} events of the journal are no longer kept.`);
      for (const entry of page.entries) this.#take(entry);
      if (!page.more) return;
      afterSeq = page.nextSeq;
    }
    this.#notes.push('The journal took too long to be read: its end is missing here.');
  }

  /** The tokens, unless the CLI told its own sums. */
  async readTranscript(configDir: string | undefined, sinceMs: number, signal: AbortSignal): Promise<void> {
    const { session_id } = this.#record;
    if (this.#usage.source === 'result' || configDir === undefined || session_id === null) return;
    const { usage, isWhole } = await readUsage(await findTranscripts(configDir, session_id), sinceMs, signal);
    if (!isWhole)
      this.#notes.push(
        'A part of the transcript was too long, or took too long, to be read: tokens are missing.',
      );
    const models = [...usage].map(([model, tokens]) => tokensOf(model, tokens));
    const { cost_usd = 'unknown' } = this.#record;
    if (models.length > 0) this.#usage = { source: 'transcript', models, cost_usd };
  }

  result(): ReceiptFacts {
    const { project_path, turns } = this.#record;
    this.#dropUnanswered();
    // What began in the last turn and has no end was cut off with the session.
    this.#endOpen('it was ended with the session');
    this.#closeTrouble('');
    if (!this.#isTold && turns > 0) this.#notes.push(UNTOLD);
    const files = [...this.#files].map(([path, change]): SeenFile => ({
      path: pathFromProject(path, project_path),
      change,
    }));
    return {
      commands_source: this.#isTold ? 'journal' : 'none',
      ...this.#runs.result(),
      files: files.slice(0, MAX_FILES),
      files_total: files.length,
      denials: this.#denials,
      denials_total: this.#denialsTotal,
      usage: this.#usage,
      notes: [...this.#notes, ...this.#troubles.slice(-MAX_TROUBLES)],
    };
  }

  #take(entry: JournalEntry): void {
    const { data: event } = events.safeParse(entry);
    switch (event?.type) {
      case 'turn-started':
        // The hook or the stream that reports a turn reports its tools, too.
        this.#isTold ||= event.source === 'exact';
        return;
      case 'tool-started':
        this.#isTold = true;
        if (event.id !== undefined && this.#open.size < MAX_OPEN) this.#open.set(event.id, event);
        return;
      case 'tool-finished':
        return this.#onFinished(event);
      case 'command-ended':
        return this.#onCommandEnded(event);
      case 'decision-closed':
        return this.#onDecided(event);
      case 'turn-ended':
        return this.#onTurnEnded(event);
      case 'budget':
        if (event.refused !== undefined) this.#refused.add(event.refused);
        return;
      case 'trouble':
        this.#closeTrouble('');
        this.#trouble = `Trouble (${event.kind}), told at ${event.at}: ${oneLine(event.text, REASON_CHARS)}`;
        return;
      case 'trouble-over':
        return this.#closeTrouble(`. The session went on at ${event.at}.`);
      case 'leftovers-ended':
        this.#notes.push(`${leftoverWords(event.programs)}.`);
        return;
      case undefined:
        return;
    }
  }

  #onFinished(event: Of<'tool-finished'>): void {
    const open = event.id === undefined ? undefined : this.#open.get(event.id);
    if (event.id !== undefined) this.#open.delete(event.id);
    for (const path of event.files_changed) this.#wrote(path, event.created);
    const { summary, ok, exit_code, error, denied } = event;
    if (denied !== undefined) {
      // A call that was denied by an answer is no longer open, and counted.
      if (denied === 'rule' || open !== undefined)
        this.#deny({ summary, by: denied, reason: oneLine(error ?? '', REASON_CHARS) });
      return;
    }
    // The model asked for one command, and another one was allowed.
    const command = open?.command ?? event.command;
    if (command === undefined || (!ok && exit_code === undefined)) return;
    // A tool that only starts a command has no exit code of it.
    this.#runs.ran(event.id, command, exit_code === undefined ? WATCHED : event);
  }

  #onCommandEnded(end: Of<'command-ended'>): void {
    const { id: callId } = end;
    if (callId === undefined) return;
    const open = this.#open.get(callId);
    this.#open.delete(callId);
    if (open?.command === undefined) this.#runs.ended(callId, end);
    else this.#runs.ran(callId, open.command, end);
  }

  /** A request has no id of its call: the newest with its summary is meant. */
  #onDecided({ decision_id, summary, verdict, edits = [] }: Of<'decision-closed'>): void {
    if (decision_id !== undefined) this.#closed.add(decision_id);
    const [callId, open] = [...this.#open].findLast(([, call]) => call.summary === summary) ?? [];
    if (callId === undefined || open === undefined) return;
    const edit = edits.find(({ field }) => field === 'command');
    if (verdict !== 'allow' && verdict !== 'allow_session') this.#open.delete(callId);
    else if (edit !== undefined) this.#open.set(callId, { ...open, command: edit.allowed });
  }

  /** A keeper that was killed wrote no end of what it asked: that call did not run. */
  #dropUnanswered(): void {
    for (const { decision_id, summary, verdict } of this.#record.decisions)
      if (!this.#closed.has(decision_id) && (verdict === null || verdict === 'withdrawn'))
        this.#onDecided({ type: 'decision-closed', decision_id, summary, verdict });
  }

  #onTurnEnded({ interrupted, usage }: Of<'turn-ended'>): void {
    this.#endOpen(interrupted ? 'it was interrupted' : 'whether it ran was not seen');
    // Each reports the sums of the session so far.
    if (usage === undefined) return;
    const models = Object.entries(usage.models).map(([model, tokens]) => tokensOf(model, tokens));
    this.#usage = { source: 'result', models, cost_usd: usage.costUsd ?? 'unknown' };
  }

  #endOpen(note: string): void {
    for (const [callId, { command, summary }] of this.#open)
      if (this.#refused.has(callId)) this.#deny({ summary, by: BUDGET, reason: this.#record.reason });
      else if (command !== undefined) this.#runs.ran(callId, command, { note, output: '' });
    this.#open.clear();
  }

  #closeTrouble(end: string): void {
    if (this.#trouble !== undefined) this.#troubles.push(`${this.#trouble}${end}`);
    this.#trouble = undefined;
  }

  #wrote(path: string, isNew: boolean): void {
    // What was created stays created, however often it is changed then.
    const isCreated = isNew || this.#files.get(path) === 'created';
    this.#files.set(path, isCreated ? 'created' : 'changed');
  }

  #deny(denial: Denial): void {
    this.#denialsTotal++;
    if (this.#denials.length < MAX_DENIALS) this.#denials.push(denial);
  }
}

const WATCHED = { note: 'it was watched, and how it ended is not known', output: '' };

function tokensOf(model: string, { input, output, cacheRead, cacheWrite }: ModelUsage): ModelTokens {
  return { model, input, output, cache_read: cacheRead, cache_write: cacheWrite };
}
