// Pure.
import { commandOf } from '../../approvals/tool-table.js';
import type { Clock } from '../../base/clock.js';
import { countedNoun, headBytes, someNames } from '../../base/text.js';
import { IN_BACKGROUND, printed, printedText, type CommandEnd } from '../../claude/command-outcome.js';
import type { ExitStatus, SessionEvent, TroubleKind } from '../../claude/session.js';
import type { ReadableLog } from './readable-log.js';
import type { Decision, TaskStatus, TaskTrouble } from '../task.js';

/** The journal as this needs it. */
export interface EventSink {
  append(type: string, fields: Readonly<Record<string, unknown>>): number;
}

/** A text in the journal; the log has it in full. */
const MAX_TEXT_BYTES = 16_000;
/** Of what a command printed: its beginning and its end. */
const MAX_OUTPUT_CHARS = 8_000;
const MAX_ERROR_BYTES = 2_000;
/** A session reports a few events for each tool call; a burst of hundreds a second would push out all the rest. */
const EVENTS_A_SECOND = 100;
/** So many at once are written all the same. */
const BURST = 1_000;
/** Few, and what a task ends with. */
const LAST_EVENTS: ReadonlySet<string> = new Set(['storage', 'ending', 'leftovers-ended', 'ended']);
const verdictWords = {
  allow: '✓ allowed',
  allow_session: '✓ allowed for the session',
  deny: '✗ denied',
  withdrawn: '– withdrawn',
} as const;

type Of<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

/** What happened in a task, written twice: as events for programs in the journal, in words for people in the log. */
export class TaskStory {
  readonly #journal: EventSink;
  readonly #log: ReadableLog;
  readonly #clock: Clock;
  /** Events that may be written now, and when that was counted. */
  #room = BURST;
  #countedMs: number;
  #leftOut = 0;
  #trouble = '';

  constructor(journal: EventSink, log: ReadableLog, clock: Clock) {
    this.#journal = journal;
    this.#log = log;
    this.#clock = clock;
    this.#countedMs = clock.monotonicMs();
  }

  began(promptSummary: string): void {
    this.#log.entry('Task started');
    this.#log.entry(`Prompt: ${promptSummary}`);
  }

  statusChanged(from: TaskStatus, to: TaskStatus, reason: string, source: 'exact' | 'observed'): void {
    this.#write('status', { from, to, reason, source });
  }

  turnStarted({ source }: Of<'turn-started'>): void {
    this.#write('turn-started', { source });
  }

  turnEnded({ source, backgroundTasks, interrupted = false, error, usage }: Of<'turn-ended'>): void {
    const fields = {
      source,
      background_tasks: backgroundTasks,
      interrupted,
      error: error?.text ?? null,
      ...(error !== undefined && { error_kind: error.kind }),
      ...(usage !== undefined && { usage }),
    };
    this.#tell('turn-ended', fields, interrupted ? 'The turn was interrupted' : 'The turn is over');
  }

  toolStarted({ id, tool, summary, input }: Of<'tool-started'>): void {
    const line = commandOf(tool, input);
    const fields = {
      id,
      tool,
      summary,
      ...(line !== undefined && { command: headBytes(line, MAX_TEXT_BYTES) }),
    };
    this.#tell('tool-started', fields, `▶ ${summary}`);
  }

  toolFinished(event: Of<'tool-finished'>): void {
    const { id, tool, summary, ok, line, filesChanged, isNew, command, error, denied } = event;
    const output = command && printed(command, MAX_OUTPUT_CHARS);
    const why = headBytes(error ?? '', MAX_ERROR_BYTES);
    const fields = {
      id,
      tool,
      summary,
      ok,
      files_changed: filesChanged,
      ...(isNew === true && { created: true }),
      ...(line !== undefined && { command: headBytes(line, MAX_TEXT_BYTES) }),
      ...(command !== undefined && { exit_code: command.exitCode, note: command.note, ...output }),
      ...(why !== '' && { error: why }),
      ...(denied !== undefined && { denied }),
    };
    if (command !== undefined && output !== undefined) {
      this.#tell('tool-finished', fields, commandWords(ok, summary, command, printedText(output)));
    } else if (ok) this.#write('tool-finished', fields);
    else this.#tell('tool-finished', fields, `✗ ${summary} failed${why === '' ? '' : `: ${why}`}`);
  }

  commandEnded({ id, command, summary, end }: Of<'command-ended'>): void {
    const output = printed(end, MAX_OUTPUT_CHARS);
    const { exitCode, note } = end;
    const fields = { id, command: headBytes(command, MAX_TEXT_BYTES), exit_code: exitCode, note, ...output };
    this.#tell('command-ended', fields, commandWords(exitCode === 0, summary, end, printedText(output)));
  }

  asked(decision: Decision): void {
    const { decision_id, kind, tool, summary } = decision;
    this.#tell(
      'decision-asked',
      { decision_id, kind, tool, summary },
      `? ${summary} (${decision_id}, waits for an answer)`,
    );
  }

  /** Closed immediately by a rule, or by an answer. */
  closed(decision: Decision): void {
    const { decision_id, kind, tool, summary, verdict, answered_by, reason, edits } = decision;
    // Not withdrawn: a person answered it there.
    const words = answered_by === 'terminal' ? '– answered' : verdictWords[verdict ?? 'withdrawn'];
    const by = answered_by ?? 'nobody';
    const why = reason === null ? '' : `${by === 'rule' ? ' ' : ': '}${reason}`;
    this.#tell(
      'decision-closed',
      { decision_id, kind, tool, summary, verdict, answered_by, reason, ...(edits && { edits }) },
      `${words}${edits ? ' with another input' : ''}: ${summary} (by ${by}${why})`,
    );
  }

  /** The bridge's own key; keys of a person are `typed`. */
  pressed({ keys, why }: Of<'keys'>): void {
    this.#journal.append('keys', { by: 'bridge', keys, why });
  }

  answeredTooLate(decisionId: string, summary: string): void {
    const words = `The session had moved on before the answer to "${summary}" arrived`;
    this.#tell('answer-too-late', { decision_id: decisionId }, words);
  }

  interrupted(by?: string): void {
    this.#tell('interrupt', by === undefined ? {} : { by }, `Interrupted by ${by ?? 'the caller'}`);
  }

  messageSent(text: string): void {
    this.#tell('message', { text: headBytes(text, MAX_TEXT_BYTES) }, `Message: ${text}`);
  }

  /** By a person, in the terminal of the session. */
  prompted(text: string): void {
    this.#tell('message', { text: headBytes(text, MAX_TEXT_BYTES), by: 'person' }, `Prompt: ${text}`);
  }

  /** `atMs`: when it was said, where that is known; it is read later. */
  said(text: string, atMs?: number): void {
    const saidAt = atMs === undefined ? {} : { said_at: new Date(atMs).toISOString() };
    this.#tell('said', { text: headBytes(text, MAX_TEXT_BYTES), ...saidAt }, `Claude: ${text}`);
  }

  budgetLow(name: string, words: string): void {
    this.#tell('budget', { state: 'low', words }, `80 % of the ${name} is used: ${words}`);
  }

  /** The call with this id did not run. */
  refusedByBudget(callId: string): void {
    this.#write('budget', { state: 'used', refused: callId });
  }

  printed(lines: readonly string[]): void {
    this.#log.output(lines);
  }

  noticed(text: string): void {
    this.#tell('notice', { text }, text);
  }

  gotIntoTrouble({ kind, text }: Of<'trouble'>): void {
    this.#trouble = text;
    this.#tell('trouble', { kind, text }, text);
  }

  /** A turn ended by trouble, or Claude Code waits to ask again. `words`: what happens next. */
  heldUp(kind: TroubleKind, text: string, { since, resumes_at }: TaskTrouble, words: string): void {
    this.#tell('trouble', { kind, text, since, resumes_at }, words);
  }

  troubleOver({ kind }: TaskTrouble): void {
    this.#tell('trouble-over', { kind }, 'The session goes on');
  }

  /** `words` say since when the disk fails and why, or what is missing now that it writes again. */
  storage(state: 'failing' | 'back', words: string): void {
    this.#tell('storage', { state, words }, `Storage: ${words}`);
  }

  ending(status: TaskStatus, reason: string): void {
    // Trouble that ends a task is already in the log.
    this.#write('ending', { status, reason }, reason === this.#trouble ? undefined : reason);
  }

  /** `programs`: the name of each process. */
  leftoversEnded(programs: readonly string[]): void {
    this.#tell('leftovers-ended', { count: programs.length, programs }, leftoverWords(programs));
  }

  ended(status: TaskStatus, reason: string, exit: ExitStatus): void {
    const { code = null, signal = null } = exit;
    // A session that the API refused leaves with code 0, which says nothing of why.
    const isTold = code !== null && (code !== 0 || status === 'completed');
    const how = isTold ? ` with exit code ${code}` : signal === null ? '' : ` by ${signal}`;
    this.#tell('ended', { status, reason, exit_code: code, signal }, `Task ${status}${how}: ${reason}`);
  }

  #tell(type: string, fields: Readonly<Record<string, unknown>>, words: string): void {
    this.#write(type, fields, words);
  }

  #write(type: string, fields: Readonly<Record<string, unknown>>, words?: string): void {
    const nowMs = this.#clock.monotonicMs();
    const more = ((nowMs - this.#countedMs) / 1_000) * EVENTS_A_SECOND;
    this.#room = Math.min(BURST, this.#room + more);
    this.#countedMs = nowMs;
    if (this.#room < 1 && !LAST_EVENTS.has(type)) {
      this.#leftOut++;
      return;
    }
    this.#room--;
    this.#tellLeftOut();
    this.#journal.append(type, fields);
    if (words !== undefined) this.#log.entry(words);
  }

  #tellLeftOut(): void {
    const count = this.#leftOut;
    if (count === 0) return;
    this.#leftOut = 0;
    this.#journal.append('events-left-out', { count });
    this.#log.entry(
      `${count} events were left out here: the session reported more than ${EVENTS_A_SECOND} a second`,
    );
  }
}

function commandWords(
  isOk: boolean,
  summary: string,
  { exitCode, note }: CommandEnd,
  output: string,
): string {
  // What goes on has no outcome yet.
  const mark = note === IN_BACKGROUND ? '…' : isOk ? '✓' : '✗';
  const end = `${mark} ${summary}: ${note ?? `exit code ${exitCode}`}`;
  if (output !== '') return `${end}\n${output}`;
  // What an interrupted command printed is not kept.
  const isUnknown = note === IN_BACKGROUND || note?.startsWith('interrupted') === true;
  return isUnknown ? end : `${end}, no output`;
}

/** `programs`: the name of each process that ran when the session was over, and was ended. */
export function leftoverWords(programs: readonly string[]): string {
  const count = countedNoun(programs.length, 'process', 'processes');
  return `Ended ${count} that still ran: ${someNames([...new Set(programs)])}`;
}
