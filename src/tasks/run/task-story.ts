// Pure: what happened in a task, for people in its log and for programs in its journal.
import { commandOf } from '../../approvals/tool-table.js';
import type { Clock } from '../../base/clock.js';
import { countedNoun, headBytes, someNames } from '../../base/text.js';
import { IN_BACKGROUND, printed, printedText, type CommandEnd } from '../../claude/command-outcome.js';
import type { ExitStatus, SessionEvent } from '../../claude/session.js';
import type { Decision, TaskStatus } from '../task.js';

/** Where the log's text goes; a file in a keeper. */
export interface TextSink {
  write(text: string): void;
}

/** The journal as this needs it. */
export interface EventSink {
  append(type: string, fields: Readonly<Record<string, unknown>>): number;
}

/** One line of a program's output is cut here: a log is for reading. */
const MAX_LINE_CHARS = 4_000;
/** The longest answer that a model gives in one turn is shorter by far. */
const MAX_ENTRY_BYTES = 512 * 1024;
/** A text in the journal; the log has it in full. */
const MAX_TEXT_BYTES = 16_000;
/** Of what a command printed: its beginning and its end. */
const MAX_OUTPUT_CHARS = 8_000;
const MAX_ERROR_BYTES = 2_000;
/** All unsafe characters but the line feed: those of a program or a file name must forge no lines, nor move or turn what is read. */
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** The beginning of a line that looks like one of the log's own, also behind invisible characters. */
const likeOwn =
  /^(?=(?:[^\S\n]|[\p{Cf}\p{Default_Ignorable_Code_Point}])*\[(?:\d{4}-\d\d-\d\dT|The log was rotated|\d+ bytes left out))/gmu;
const INDENT = '    ';

/** The task's log as a person reads it: `[time] words`, then plain text; no escape codes. */
export class ReadableLog {
  readonly #sink: TextSink;
  readonly #clock: Clock;

  constructor(sink: TextSink, clock: Clock) {
    this.#sink = sink;
    this.#clock = clock;
  }

  /** An entry with its time; further lines of `text` follow indented, so that none looks like an entry of its own. */
  entry(words: string): void {
    const at = new Date(this.#clock.now()).toISOString();
    const text = clean(headBytes(words, MAX_ENTRY_BYTES)).trimEnd();
    this.#sink.write(`[${at}] ${text.replaceAll('\n', `\n${INDENT}`)}\n`);
  }

  /** Texts of one or more lines that a program printed, as they were; those that look like the log's own are indented. */
  output(texts: readonly string[]): void {
    if (texts.length === 0) return;
    const lines = clean(texts.join('\n')).split('\n').map(cutLine);
    this.#sink.write(`${lines.join('\n').replaceAll(likeOwn, INDENT)}\n`);
  }
}

function clean(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, ' ');
}

function cutLine(line: string): string {
  const more = line.length - MAX_LINE_CHARS;
  return more <= 0 ? line : `${line.slice(0, MAX_LINE_CHARS)}… (${more} more characters)`;
}

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
  readonly #log: Pick<ReadableLog, 'entry'>;

  constructor(journal: EventSink, log: Pick<ReadableLog, 'entry'>) {
    this.#journal = journal;
    this.#log = log;
  }

  /** An event of this type, and its words in the log, where it has some. A field that is undefined is left out. */
  tell(type: string, fields: Readonly<Record<string, unknown>>, words?: string): void {
    this.#journal.append(type, fields);
    if (words !== undefined) this.#log.entry(words);
  }

  began(promptSummary: string): void {
    this.#log.entry('Task started');
    this.#log.entry(`Prompt: ${promptSummary}`);
  }

  statusChanged(from: TaskStatus, to: TaskStatus, reason: string, source: 'exact' | 'observed'): void {
    this.tell('status', { from, to, reason, source });
  }

  turnStarted({ source }: Of<'turn-started'>): void {
    this.tell('turn-started', { source });
  }

  turnEnded({ source, backgroundTasks, interrupted = false, error, usage }: Of<'turn-ended'>): void {
    const fields = {
      source,
      background_tasks: backgroundTasks,
      interrupted,
      error: error?.text ?? null,
      error_kind: error?.kind,
      usage,
    };
    this.tell('turn-ended', fields, interrupted ? 'The turn was interrupted' : 'The turn is over');
  }

  toolStarted({ id, tool, summary, input }: Of<'tool-started'>): void {
    const command = cutText(commandOf(tool, input));
    this.tell('tool-started', { id, tool, summary, command }, `▶ ${summary}`);
  }

  toolFinished(event: Of<'tool-finished'>): void {
    const { id, tool, summary, ok, filesChanged, isNew, command, denied } = event;
    const output = command && printed(command, MAX_OUTPUT_CHARS);
    const why = headBytes(event.error ?? '', MAX_ERROR_BYTES);
    const fields = {
      ...{ id, tool, summary, ok, files_changed: filesChanged, created: isNew, denied },
      command: cutText(event.line),
      ...(command !== undefined && { exit_code: command.exitCode, note: command.note, ...output }),
      ...(why !== '' && { error: why }),
    };
    const failed = ok ? undefined : `✗ ${summary} failed${why === '' ? '' : `: ${why}`}`;
    const words = command && output && commandWords(ok, summary, command, printedText(output));
    this.tell('tool-finished', fields, words ?? failed);
  }

  commandEnded({ id, command, summary, end }: Of<'command-ended'>): void {
    const output = printed(end, MAX_OUTPUT_CHARS);
    const { exitCode, note } = end;
    const fields = { id, command: cutText(command), exit_code: exitCode, note, ...output };
    this.tell('command-ended', fields, commandWords(exitCode === 0, summary, end, printedText(output)));
  }

  asked({ decision_id, kind, tool, summary }: Decision): void {
    const words = `? ${summary} (${decision_id}, waits for an answer)`;
    this.tell('decision-asked', { decision_id, kind, tool, summary }, words);
  }

  /** Closed immediately by a rule, or by an answer. */
  closed({ decision_id, kind, tool, summary, verdict, answered_by, reason, edits }: Decision): void {
    const given = verdict ?? 'withdrawn';
    // A person answered it in the dialog; how, is not known.
    const isElsewhere = answered_by === 'terminal' && given === 'withdrawn';
    const words = isElsewhere ? '– answered' : verdictWords[given];
    const by = answered_by ?? 'nobody';
    const why = reason === null ? '' : `${by === 'rule' ? ' ' : ': '}${reason}`;
    this.tell(
      'decision-closed',
      { decision_id, kind, tool, summary, verdict, answered_by, reason, edits },
      `${words}${edits ? ' with another input' : ''}: ${summary} (by ${by}${why})`,
    );
  }

  messageSent(text: string): void {
    this.tell('message', { text: cutText(text) }, `Message: ${text}`);
  }

  /** By a person, in the terminal of the session. */
  prompted(text: string): void {
    this.tell('message', { text: cutText(text), by: 'person' }, `Prompt: ${text}`);
  }

  /** `atMs`: when it was said, where that is known; it is read later. */
  said(text: string, atMs?: number): void {
    const said_at = atMs === undefined ? undefined : new Date(atMs).toISOString();
    this.tell('said', { text: cutText(text), said_at }, `Claude: ${text}`);
  }

  noticed(text: string): void {
    this.tell('notice', { text }, text);
  }

  /** `words` say since when the disk fails and why, or what is missing now that it writes again. */
  storage(state: 'failing' | 'back', words: string): void {
    this.tell('storage', { state, words }, `Storage: ${words}`);
  }

  ending(status: TaskStatus, reason: string): void {
    this.tell('ending', { status, reason }, reason);
  }

  ended(status: TaskStatus, reason: string, exit: ExitStatus): void {
    const { code = null, signal = null } = exit;
    // A session that the API refused leaves with code 0, which says nothing of why.
    const isTold = code !== null && (code !== 0 || status === 'completed');
    const how = isTold ? ` with exit code ${code}` : signal === null ? '' : ` by ${signal}`;
    this.tell('ended', { status, reason, exit_code: code, signal }, `Task ${status}${how}: ${reason}`);
  }
}

function cutText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : headBytes(text, MAX_TEXT_BYTES);
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
