import { z } from 'zod';
import { headBytes, oneLine } from '../../base/text.js';
import { IN_BACKGROUND, printedSchema, shorter } from '../../claude/command-outcome.js';
import { toolFinished, toolStarted, type ToolUsed } from '../../claude/tool-calls.js';
import type { TranscriptEntry } from '../../claude/transcript-entry.js';
import { findTranscripts, readUsage } from '../../claude/transcripts.js';
import type { ModelUsage } from '../../claude/usage.js';
import type { JournalEntry } from '../../store/journal-line.js';
import { readJournal } from '../../store/journal-reader.js';
import { BUDGET, spentOf } from '../budget/budget.js';
import { leftoverWords, TaskStory } from '../run/task-story.js';
import type { TaskRecord } from '../task.js';
import { pathFromProject, type CommandRun, type Receipt, type SeenFile } from './receipt.js';

/** Of each list the last ones are reported, of files and denials the first; all are counted. */
const MAX_COMMANDS = 300;
const MAX_FILES = 1_000;
const MAX_DENIALS = 100;
const MAX_TROUBLES = 20;
const MAX_COMMAND_BYTES = 1_000;
const MAX_OUTPUT_CHARS = 1_000;
const REASON_CHARS = 300;
const JOURNAL_PAGE_BYTES = 1024 * 1024;

/** What is read of an event of the journal, of whatever type. */
const eventSchema = z.object({
  type: z.string(),
  at: z.string().default(''),
  /** Of a call of a tool, as are the next ones. */
  id: z.string().optional(),
  summary: z.string().default(''),
  command: z.string().optional(),
  ok: z.boolean().default(false),
  files_changed: z.array(z.string()).default([]),
  created: z.boolean().default(false),
  exit_code: z.int().nullish(),
  note: z.string().optional(),
  ...printedSchema.shape,
  /** Of a tool or a turn; null where it had none. */
  error: z.string().nullish(),
  denied: z.enum(['rule', 'session']).optional(),
  /** Of a decision. */
  decision_id: z.string().optional(),
  verdict: z.string().nullable().default(null),
  edits: z.array(z.object({ field: z.string(), allowed: z.string() })).default([]),
  /** Of a turn. */
  source: z.string().optional(),
  interrupted: z.boolean().default(false),
  usage: z
    .object({
      models: z.record(
        z.string(),
        z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() }),
      ),
      costUsd: z.number().nullable(),
    })
    .optional(),
  /** Of a used-up budget, of a trouble, and of processes that were ended. */
  refused: z.string().optional(),
  kind: z.string().default(''),
  text: z.string().default(''),
  programs: z.array(z.string()).default([]),
});
type Event = z.infer<typeof eventSchema>;

/** A call that has begun and not ended. */
type OpenCall = Pick<Event, 'summary' | 'command'>;
const UNKNOWN: Receipt['usage'] = { source: 'unknown', models: [], cost_usd: 'unknown' };
type RunEnd = Pick<Event, 'output' | 'left_out' | 'kept' | 'exit_code' | 'note'>;

/**
 * What a task did: its journal, folded, and the tokens that the session's transcript counts where the CLI reports none. `isKilled`: its
 * keeper was killed, so that calls are in the transcript alone. Throws STATE_UNUSABLE for a journal that cannot be read.
 */
export async function readReceiptFacts(
  record: TaskRecord,
  paths: { readonly journal: string; readonly configDir: string | undefined; readonly isKilled: boolean },
  sinceMs: number,
  signal: AbortSignal,
): Promise<ReturnType<Facts['result']>> {
  const facts = new Facts(record);
  let isRead = false;
  for (let afterSeq = 0; !isRead && !signal.aborted;) {
    const page = await readJournal(paths.journal, { afterSeq, maxBytes: JOURNAL_PAGE_BYTES });
    if (page.gone > 0 && afterSeq === 0)
      facts.notes.push(`The first ${page.gone} events of the journal are no longer kept.`);
    for (const entry of page.entries) facts.take(entry);
    isRead = !page.more;
    afterSeq = page.nextSeq;
  }
  if (!isRead) facts.notes.push('The journal took too long to be read: its end is missing here.');
  const { session_id, cost_usd = 'unknown', tokens } = record;
  const { configDir, isKilled } = paths;
  // The CLI's own sums come first.
  if ((facts.usage.source === 'unknown' || isKilled) && configDir !== undefined && session_id !== null) {
    const transcripts = await findTranscripts(configDir, session_id);
    const onEntry = isKilled ? (entry: TranscriptEntry) => facts.takeRest(entry) : undefined;
    const { usage, isWhole } = await readUsage(transcripts, sinceMs, signal, onEntry);
    if (!isWhole)
      facts.notes.push(
        'A part of the transcript was too long, or took too long, to be read: tokens are missing.',
      );
    const models = [...usage].map(([model, tokens]) => tokensOf(model, tokens));
    const isOfThese = spentOf({ models: Object.fromEntries(usage), costUsd: null }).tokens === tokens;
    if (models.length > 0)
      facts.usage = { source: 'transcript', models, cost_usd: isOfThese ? cost_usd : 'unknown' };
  }
  return facts.result();
}

class Facts {
  readonly notes: string[] = [];
  usage: Receipt['usage'] = UNKNOWN;
  readonly #record: TaskRecord;
  readonly #open = new Map<string, OpenCall>();
  /** By the ids of their calls, in the order in which they ended. */
  readonly #runs = new Map<string, CommandRun>();
  /** The decisions whose end the journal has. */
  readonly #closed = new Set<string>();
  /** Calls that did not run, since the budget was used up. */
  readonly #refused = new Set<string>();
  readonly #files = new Map<string, SeenFile['change']>();
  readonly #denials: Receipt['denials'];
  readonly #troubles: string[] = [];
  /** The types of events that have another form than this bridge writes. */
  readonly #unread = new Set<string>();
  /** The calls of the journal, of which the first event was written then; and those of the transcripts. */
  readonly #known = new Set<string | undefined>();
  #sinceMs: number | undefined;
  readonly #used = new Map<string, ToolUsed>();
  #isInTrouble = false;
  #isTold = false;

  constructor(record: TaskRecord) {
    this.#record = record;
    this.#denials = record.decisions
      .filter(({ verdict }) => verdict === 'deny')
      .map(({ summary, answered_by, reason }) => ({
        summary,
        by: answered_by ?? 'unknown',
        reason: reason ?? '',
      }));
  }

  take(entry: Pick<JournalEntry, 'type'>): void {
    const event = eventSchema.safeParse(entry).data;
    if (event === undefined) return void this.#unread.add(entry.type);
    this.#sinceMs ??= Date.parse(event.at);
    this.#known.add(event.id);
    switch (event.type) {
      case 'turn-started':
        // The hook or the stream that reports a turn reports its tools, too.
        this.#isTold ||= event.source === 'exact';
        this.usage = UNKNOWN;
        break;
      case 'tool-started':
        this.#isTold = true;
        if (event.id !== undefined) this.#open.set(event.id, event);
        break;
      case 'tool-finished':
        this.#onFinished(event);
        break;
      case 'command-ended':
        this.#onCommandEnded(event);
        break;
      case 'decision-closed':
        if (event.decision_id !== undefined) this.#closed.add(event.decision_id);
        this.#onDecided(event);
        break;
      case 'turn-ended':
        this.#endOpen(event.interrupted ? 'it was interrupted' : 'whether it ran was not seen');
        // Each reports the sums of the session so far; of a turn that was cut off no event does.
        if (event.usage !== undefined) this.usage = usageOf(event.usage);
        break;
      case 'budget':
        if (event.refused !== undefined) this.#refused.add(event.refused);
        break;
      case 'trouble':
        this.#isInTrouble = true;
        this.#troubles.push(
          `Trouble (${event.kind}), told at ${event.at}: ${oneLine(event.text, REASON_CHARS)}`,
        );
        break;
      case 'trouble-over':
        if (this.#isInTrouble)
          this.#troubles.push(`${this.#troubles.pop()}. The session went on at ${event.at}.`);
        this.#isInTrouble = false;
        break;
      case 'leftovers-ended':
        this.notes.push(`${leftoverWords(event.programs)}.`);
        break;
    }
  }

  /** Of a transcript: the calls that the keeper did not live to write down, and the ends of those that it did. */
  takeRest(entry: TranscriptEntry): void {
    const project = this.#record.worktree?.path ?? this.#record.project_path;
    const append = (type: string, fields: object): number => {
      this.take({ ...fields, type });
      return 0;
    };
    const story = new TaskStory({ append }, { entry: () => undefined });
    // Older ones are no longer in the journal.
    if (entry.atMs < (this.#sinceMs ?? 0)) return;
    for (const use of entry.kind === 'assistant' ? entry.uses : []) {
      this.#used.set(use.id, use);
      if (!this.#known.has(use.id)) story.toolStarted(toolStarted(use, project));
    }
    if (entry.kind !== 'results') return;
    for (const outcome of entry.outcomes) {
      const use = this.#open.has(outcome.id) ? this.#used.get(outcome.id) : undefined;
      // What was cut off has no end.
      const isCut = outcome.stopped !== undefined && outcome.deniedBy === undefined;
      if (use !== undefined && !isCut) story.toolFinished(toolFinished(use, outcome, project, entry.cwd));
    }
  }

  result() {
    const { project_path, turns, decisions } = this.#record;
    // A keeper that was killed wrote no end of what it asked: that call did not run.
    for (const { decision_id, summary, verdict } of decisions)
      if (!this.#closed.has(decision_id) && (verdict === null || verdict === 'withdrawn'))
        this.#onDecided({ summary, verdict, edits: [] });
    // What began in the last turn and has no end was cut off with the session.
    this.#endOpen('it was ended with the session');
    if (!this.#isTold && turns > 0)
      this.notes.push('Nothing told which commands ran: no hook of the session was seen.');
    for (const type of this.#unread) this.notes.push(`Events of type ${type} could not be read.`);
    const runs = [...this.#runs.values()];
    const files = [...this.#files].map(([path, change]) => ({
      path: pathFromProject(path, project_path),
      change,
    }));
    return {
      commands_source: this.#isTold ? ('journal' as const) : ('none' as const),
      commands: runs
        .slice(-MAX_COMMANDS)
        .map((run) => (run.note === IN_BACKGROUND ? { ...run, note: UNSEEN } : run)),
      commands_total: runs.length,
      commands_failed: runs.filter(({ exit_code }) => exit_code !== null && exit_code !== 0).length,
      files: files.slice(0, MAX_FILES),
      files_total: files.length,
      denials: this.#denials.slice(0, MAX_DENIALS),
      denials_total: this.#denials.length,
      usage: this.usage,
      notes: [...this.notes, ...this.#troubles.slice(-MAX_TROUBLES)],
    };
  }

  #onFinished(event: Event): void {
    const { id = '', summary, ok, exit_code, error, denied, files_changed, created } = event;
    const open = this.#open.get(id);
    this.#open.delete(id);
    for (const path of files_changed)
      // What was created stays created, however often it is changed then.
      if (created || !this.#files.has(path)) this.#files.set(path, created ? 'created' : 'changed');
    if (denied !== undefined) {
      // A call that was denied by an answer is no longer open, and counted.
      if (denied === 'rule' || open !== undefined)
        this.#denials.push({ summary, by: denied, reason: oneLine(error ?? '', REASON_CHARS) });
      return;
    }
    // The model asked for one command, and another one was allowed.
    const command = open?.command ?? event.command;
    if (command === undefined || (!ok && exit_code === undefined)) return;
    // A tool that only starts a command has no exit code of it.
    this.#ran(event.id, command, exit_code === undefined ? WATCHED : event);
  }

  #onCommandEnded(end: Event): void {
    const { id = '' } = end;
    const command = this.#open.get(id)?.command;
    this.#open.delete(id);
    if (command !== undefined || this.#runs.has(id)) this.#ran(id, command ?? '', end);
  }

  /** A request has no id of its call: the newest with its summary is meant. */
  #onDecided({ summary, verdict, edits }: Pick<Event, 'summary' | 'verdict' | 'edits'>): void {
    const [callId, open] = [...this.#open].findLast(([, call]) => call.summary === summary) ?? [];
    if (callId === undefined || open === undefined) return;
    const edit = edits.find(({ field }) => field === 'command');
    if (verdict !== 'allow' && verdict !== 'allow_session') this.#open.delete(callId);
    else if (edit !== undefined) this.#open.set(callId, { ...open, command: edit.allowed });
  }

  #endOpen(note: string): void {
    for (const [callId, { command, summary }] of this.#open)
      if (this.#refused.has(callId)) this.#denials.push({ summary, by: BUDGET, reason: this.#record.reason });
      else if (command !== undefined) this.#ran(callId, command, { note, output: '' });
    this.#open.clear();
  }

  /** A call stands once: of one whose end was missed when its turn ended, or that ran in the background, the end comes later. */
  #ran(id = `run ${this.#runs.size}`, line: string, { exit_code = null, note, ...end }: RunEnd): void {
    const command = this.#runs.get(id)?.command ?? headBytes(line, MAX_COMMAND_BYTES);
    const { left_out, kept, output } = end;
    const printed = shorter({ output: output.trimStart(), left_out, kept }, MAX_OUTPUT_CHARS);
    this.#runs.set(id, {
      command,
      exit_code,
      ...(note !== undefined && { note }),
      ...(printed.output !== '' && printed),
    });
  }
}

const WATCHED: RunEnd = { note: 'it was watched, and how it ended is not known', output: '' };
const UNSEEN = 'ran in the background, and its end was not seen';

function usageOf({ models, costUsd }: NonNullable<Event['usage']>): Receipt['usage'] {
  const tokens = Object.entries(models).map(([model, used]) => tokensOf(model, used));
  return { source: 'result', models: tokens, cost_usd: costUsd ?? 'unknown' };
}

function tokensOf(
  model: string,
  { input, output, cacheRead, cacheWrite }: ModelUsage,
): Receipt['usage']['models'][number] {
  return { model, input, output, cache_read: cacheRead, cache_write: cacheWrite };
}
