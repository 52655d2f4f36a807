import { z } from 'zod';
import { oneLine } from '../../base/text/text.js';
import { INTERRUPTED, isDeniedAtDialog, PERHAPS_INTERRUPTED } from '../../claude/command-outcome.js';
import { toolSummary } from '../../claude/tool-summary.js';
import { readTranscripts, UNFINISHED } from '../../claude/transcript-facts.js';
import { findTranscripts } from '../../claude/transcript-files.js';
import { readJournal } from '../../store/journal-reader.js';
import type { JournalEntry } from '../../store/journal-line.js';
import { pathFromProject } from './receipt-sensitive.js';
import { CommandRuns } from './receipt-runs.js';
import { TroubleNotes } from './receipt-troubles.js';
import type { Denial, ModelTokens, Receipt, SeenFile, UsageReport } from './receipt.js';
import type { Decision, TaskRecord } from '../task.js';

const MAX_FILES = 1_000;
const MAX_DENIALS = 100;
const SUMMARY_CHARS = 300;
/** Of a session without hooks and without a transcript. */
const UNTOLD =
  'Nothing told which commands ran: the hooks are switched off, and no transcript of the session was found.';
/** Enough to know the words of a denial by. */
const LONG_REASON_CHARS = 300;
const JOURNAL_PAGE_BYTES = 1024 * 1024;

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

const toolEnded = z.looseObject({
  tool: z.string(),
  ok: z.boolean(),
  files_changed: z.array(z.string()),
  exit_code: z.int().nullish(),
  note: z.string().optional(),
  output: z.string().optional(),
  error: z.string().optional(),
});
const commandEnded = z.looseObject({
  command: z.string(),
  exit_code: z.int().nullable(),
  note: z.string().optional(),
  output: z.string(),
});
const toolBegan = z.looseObject({ tool: z.string(), summary: z.string() });
const usageSchema = z.object({
  models: z.record(
    z.string(),
    z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() }),
  ),
  costUsd: z.number().nullable(),
});
const turnEnded = z.looseObject({ usage: usageSchema });

/** What the session's transcript and the task's journal tell of a task. Throws STATE_UNUSABLE for a journal that cannot be read. */
export async function readReceiptFacts(
  record: TaskRecord,
  paths: { readonly journal: string; readonly configDir: string | undefined },
  sinceMs: number,
  signal: AbortSignal,
): Promise<ReceiptFacts> {
  const facts = new Facts(record);
  await facts.readTranscript(paths.configDir, sinceMs, signal);
  await facts.readJournal(paths.journal, signal);
  return facts.result();
}

class Facts {
  readonly #record: TaskRecord;
  readonly #runs = new CommandRuns();
  #source: Receipt['commands_source'] = 'none';
  readonly #files = new Map<string, 'created' | 'changed'>();
  readonly #denials: Denial[] = [];
  #denialsTotal = 0;
  /** Decisions read from the screen are in other words than the transcript's. */
  #deniedOnScreen = 0;
  /** Commands that were allowed and of which no run was seen yet, oldest first. */
  readonly #allowed: Decision[];
  readonly #notes: string[] = [];
  readonly #troubles = new TroubleNotes();
  #usage: UsageReport = { source: 'unknown', models: [], cost_usd: 'unknown' };

  constructor(record: TaskRecord) {
    this.#record = record;
    this.#allowed = record.decisions.filter((one) => one.tool === 'Bash' && isAllowed(one));
    for (const { tool, summary, verdict, answered_by, reason } of record.decisions) {
      if (verdict !== 'deny') continue;
      if (isDialog(tool)) this.#deniedOnScreen++;
      this.#deny({ summary, by: answered_by ?? 'unknown', reason: reason ?? '' });
    }
  }

  async readTranscript(configDir: string | undefined, sinceMs: number, signal: AbortSignal): Promise<void> {
    const { session_id, project_path } = this.#record;
    const paths =
      configDir === undefined || session_id === null ? [] : await findTranscripts(configDir, session_id);
    if (paths.length === 0) return;
    this.#source = 'transcript';
    const { usage, isWhole } = await readTranscripts(
      paths,
      { sinceMs, cwd: project_path, signal },
      {
        onCommand: (command, end) => {
          if (end === UNFINISHED && this.#isUnanswered(command)) return;
          this.#runs.ran(this.#asAllowed(command), end);
        },
        onWrite: (path, change) => this.#wrote(path, change),
        onRefused: (_tool, summary, why) => this.#refused(summary, why),
        onDenied: (summary, reason) => this.#deny({ summary, by: 'rule', reason }),
        onStopped: (command, summary, why) => {
          const last = this.#asked(summary).at(-1);
          if (last !== undefined && !isAllowed(last)) this.#refused(summary, why);
          else
            this.#runs.ran(this.#asAllowed(command), last === undefined ? PERHAPS_INTERRUPTED : INTERRUPTED);
        },
        isDenial: (summary, text) =>
          this.#asked(summary).some(
            ({ verdict, reason }) => verdict === 'deny' && isReason(reason ?? '', text),
          ),
      },
    );
    if (!isWhole) this.#notes.push('A part of the transcript was too long, or took too long, to be read.');
    const models = [...usage].map(([model, tokens]) => tokensOf(model, tokens));
    if (models.length > 0) this.#usage = { source: 'transcript', models, cost_usd: 'unknown' };
  }

  async readJournal(path: string, signal: AbortSignal): Promise<void> {
    const isAlone = this.#source === 'none';
    const begun: string[] = [];
    for (let afterSeq = 0; !signal.aborted;) {
      const page = await readJournal(path, { afterSeq, maxBytes: JOURNAL_PAGE_BYTES });
      if (page.gone > 0 && afterSeq === 0)
        this.#notes.push(`The first ${page.gone} events of the journal are no longer kept.`);
      for (const entry of page.entries) this.#takeEntry(entry, isAlone ? begun : undefined);
      if (!page.more) return;
      afterSeq = page.nextSeq;
    }
  }

  result(): ReceiptFacts {
    const { project_path, session_id, turns } = this.#record;
    if (this.#source === 'none' && session_id === null && turns > 0) this.#notes.push(UNTOLD);
    const files = [...this.#files].map(([path, change]): SeenFile => ({
      path: pathFromProject(path, project_path),
      change,
    }));
    return {
      commands_source: this.#source,
      ...this.#runs.result(),
      files: files.slice(0, MAX_FILES),
      files_total: files.length,
      denials: this.#denials,
      denials_total: this.#denialsTotal,
      usage: this.#usage,
      notes: [...this.#notes, ...this.#troubles.lines],
    };
  }

  /** `begun`: what tools began and have not ended, where there is no transcript to tell of commands. */
  #takeEntry(entry: JournalEntry, begun: string[] | undefined): void {
    this.#troubles.take(entry);
    switch (entry.type) {
      case 'turn-ended': {
        // Each reports the sums of the session so far.
        const usage = turnEnded.safeParse(entry).data?.usage;
        if (usage === undefined) return;
        const models = Object.entries(usage.models).map(([model, tokens]) => tokensOf(model, tokens));
        this.#usage = { source: 'result', models, cost_usd: usage.costUsd ?? 'unknown' };
        return;
      }
      case 'tool-started': {
        const { data } = toolBegan.safeParse(entry);
        if (data?.tool === 'Bash') begun?.push(data.summary);
        return;
      }
      case 'tool-finished': {
        const { data } = toolEnded.safeParse(entry);
        for (const path of data?.files_changed ?? []) this.#wrote(path, this.#files.get(path) ?? 'changed');
        if (data?.tool !== 'Bash' || begun === undefined) return;
        this.#source = 'journal';
        const summary = begun.shift() ?? '';
        if (data.exit_code === undefined && data.error !== undefined) {
          this.#refused(summary, data.error);
          return;
        }
        const command = /^Bash\(([^]*)\)$/.exec(summary)?.[1] ?? '';
        const { ok, exit_code = ok ? 0 : null, note = ok ? undefined : 'failed', output = '' } = data;
        this.#runs.ran(command, {
          exitCode: exit_code,
          ...(exit_code === null && note !== undefined && { note }),
          output,
        });
        return;
      }
      case 'command-ended': {
        const { data } = commandEnded.safeParse(entry);
        if (data === undefined) return;
        const { command, exit_code, note, output } = data;
        this.#runs.ended(command, { exitCode: exit_code, ...(note !== undefined && { note }), output });
        return;
      }
      default:
        return;
    }
  }

  /** The transcript has what was asked, also where another command was allowed instead. */
  #asAllowed(command: string): string {
    const at = this.#allowed.findIndex(({ input }) => input['command'] === command);
    const [decision] = at === -1 ? [] : this.#allowed.splice(at, 1);
    return decision?.edits?.find(({ field }) => field === 'command')?.allowed ?? command;
  }

  /** Whether it never ran, because nobody allowed it. */
  #isUnanswered(command: string): boolean {
    const last = this.#asked(toolSummary('Bash', { command }, this.#record.project_path)).at(-1);
    return last !== undefined && !isAllowed(last);
  }

  /** What was decided of calls with that summary. */
  #asked(summary: string): Decision[] {
    return this.#record.decisions.filter((decision) => isAbout(decision, summary));
  }

  #refused(summary: string, why: string): void {
    if (this.#asked(summary).some(({ verdict }) => verdict === 'deny')) return;
    if (isDeniedAtDialog({ isError: true, text: why }) && this.#deniedOnScreen > 0) this.#deniedOnScreen--;
    else this.#deny({ summary, by: 'session', reason: oneLine(why, SUMMARY_CHARS) });
  }

  #wrote(path: string, change: 'created' | 'changed'): void {
    // What was created stays created, however often it is changed then.
    this.#files.set(path, this.#files.get(path) === 'created' ? 'created' : change);
  }

  #deny(denial: Denial): void {
    this.#denialsTotal++;
    if (this.#denials.length < MAX_DENIALS) this.#denials.push(denial);
  }
}

/** Decisions on dialogs that were read from the screen have the dialog's id; tools begin with a capital letter. */
function isDialog(tool: string): boolean {
  return /^[a-z]/.test(tool);
}

function isAllowed({ verdict }: Decision): boolean {
  return verdict === 'allow' || verdict === 'allow_session';
}

/** A dialog that was read from the screen has its own summary of a command. */
function isAbout(decision: Decision, summary: string): boolean {
  if (decision.summary === summary) return true;
  const command = /^Bash\(([^]*)\)$/.exec(summary)?.[1];
  return command !== undefined && decision.summary === `Bash command: ${command}`;
}

/** The reason of a rule begins with its name; a long one is kept cut. */
function isReason(reason: string, text: string): boolean {
  if (reason.length > LONG_REASON_CHARS && text.startsWith(reason.slice(0, LONG_REASON_CHARS))) return true;
  return reason.trim() === text.trim() || reason.endsWith(`: ${text}`);
}

function tokensOf(
  model: string,
  tokens: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
  },
): ModelTokens {
  const { input, output, cacheRead, cacheWrite } = tokens;
  return { model, input, output, cache_read: cacheRead, cache_write: cacheWrite };
}
