// Pure: the lines of a timeline from the events of a journal.
import type { TimelineEvent } from '../../src/board/state.js';
import { textIn, verdictWords } from '../text/fields.js';

export interface TimelineEntry {
  /** Of its first event. */
  readonly seq: number;
  readonly at: string;
  readonly kind: 'message' | 'said' | 'tool' | 'failed' | 'asked' | 'decided' | 'status' | 'ended' | 'note';
  readonly words: string;
  /** Shown on demand: what a command printed. */
  readonly detail: string;
}

/** Tools that only ask: their answer is all that they do. */
const ASKING: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode']);

/** A line for each event that a person wants to see; a tool and its end are one, and what is asked is told once. */
export function entriesOf(events: readonly TimelineEvent[]): TimelineEntry[] {
  const lines = new Lines();
  for (const event of events) lines.take(event);
  return lines.all;
}

/** A tool that has started and not ended: its line, unless its question stands for it. */
interface Started {
  readonly tool: string;
  readonly summary: string;
  line: TimelineEntry | undefined;
}

class Lines {
  #lines: TimelineEntry[] = [];
  /** Of several of one name the first one ends first. */
  #started: Started[] = [];

  get all(): TimelineEntry[] {
    return this.#lines;
  }

  take(event: TimelineEvent): void {
    switch (event.type) {
      case 'tool-started':
        this.#start(event);
        return;
      case 'tool-finished':
        this.#finish(event);
        return;
      case 'decision-asked':
        this.#ask(event);
        return;
      case 'decision-closed':
        this.#decide(event);
        return;
      case 'said':
        this.#say(event);
        return;
      case 'turn-ended':
        this.#leaveOpen(event['interrupted'] === true ? 'interrupted' : 'its end was not reported');
        break;
      case 'ended':
        this.#leaveOpen('it ended with the task');
        break;
    }
    const entry = entryOf(event);
    if (entry !== undefined) this.#lines.push(entry);
  }

  #start(event: TimelineEvent): void {
    const tool = textIn(event, 'tool');
    const summary = summaryOf(event);
    const line = lineOf(event, 'tool', `▶ ${summary}`);
    this.#lines.push(line);
    this.#started.push({ tool, summary, line });
  }

  #finish(event: TimelineEvent): void {
    const tool = textIn(event, 'tool');
    const summary = textIn(event, 'summary');
    const started = this.#takeOut(tool, summary);
    if (ASKING.has(tool) && started !== undefined && started.line === undefined) return;
    const what = summary || started?.summary || tool;
    const before = started?.line ?? lineOf(event, 'tool', '');
    const after = finished(before, what, event);
    if (started?.line === undefined) this.#lines.push(after);
    else this.#replace(started.line, after);
  }

  /** The question takes the place of the line that says that the tool starts: it does not run yet. */
  #ask(event: TimelineEvent): void {
    const started = this.#find(textIn(event, 'tool'), textIn(event, 'summary'));
    if (started?.line !== undefined) this.#replace(started.line, undefined);
    if (started !== undefined) started.line = undefined;
    this.#lines.push(lineOf(event, 'asked', `? ${summaryOf(event)}`));
  }

  #decide(event: TimelineEvent): void {
    const tool = textIn(event, 'tool');
    const started = this.#find(tool, textIn(event, 'summary'));
    const isAllowed = textIn(event, 'verdict').startsWith('allow');
    const allowed = allowedWords(event);
    if (started !== undefined && !isAllowed) {
      this.#started = this.#started.filter((one) => one !== started);
      if (started.line !== undefined) this.#replace(started.line, undefined);
    }
    this.#lines.push(lineOf(event, 'decided', decidedWords(event, allowed)));
    // What was asked about runs from now on.
    if (started === undefined || started.line !== undefined || !isAllowed || ASKING.has(tool)) return;
    started.line = lineOf({ ...event, seq: event.seq + 0.5 }, 'tool', `▶ ${allowed}`);
    this.#lines.push(started.line);
  }

  /** What was said is read later than a hook reports the tool that follows it; it stands where it was said. */
  #say(event: TimelineEvent): void {
    const at = textIn(event, 'said_at') || event.at;
    const entry = lineOf({ ...event, at }, 'said', textIn(event, 'text'));
    const before = this.#lines.findLastIndex((line) => line.at <= at || line.kind === 'message');
    this.#lines.splice(before + 1, 0, entry);
  }

  #leaveOpen(why: string): void {
    for (const { line, summary } of this.#started)
      if (line !== undefined) this.#replace(line, { ...line, words: `– ${summary}: ${why}` });
    this.#started = [];
  }

  #find(tool: string, summary: string): Started | undefined {
    const ofTool = this.#started.filter((one) => one.tool === tool);
    return ofTool.find((one) => one.summary === summary) ?? (ofTool.length === 1 ? ofTool[0] : undefined);
  }

  #takeOut(tool: string, summary: string): Started | undefined {
    const found = this.#find(tool, summary) ?? this.#started.find((one) => one.tool === tool);
    this.#started = this.#started.filter((one) => one !== found);
    return found;
  }

  #replace(line: TimelineEntry, instead: TimelineEntry | undefined): void {
    const at = this.#lines.lastIndexOf(line);
    if (at === -1) return;
    this.#lines.splice(at, 1, ...(instead === undefined ? [] : [instead]));
  }
}

function lineOf(
  { seq, at }: TimelineEvent,
  kind: TimelineEntry['kind'],
  words: string,
  detail = '',
): TimelineEntry {
  return { seq, at, kind, words, detail };
}

/** The reasons of a status that the lines before it say already. */
const SAID = /^(?:Waits for an answer to: |The agent runs\.$)/;

function entryOf(event: TimelineEvent): TimelineEntry | undefined {
  switch (event.type) {
    case 'message':
      return lineOf(event, 'message', textIn(event, 'text'));
    case 'status': {
      const reason = textIn(event, 'reason');
      if (SAID.test(reason) && textIn(event, 'from') !== 'starting') return undefined;
      return lineOf(event, 'status', `${textIn(event, 'to')}${after(': ', reason)}`);
    }
    case 'turn-ended':
      return event['error'] == null ? undefined : lineOf(event, 'failed', textIn(event, 'error'));
    case 'ended':
      return lineOf(event, 'ended', `${textIn(event, 'status')}${after(': ', textIn(event, 'reason'))}`);
    default: {
      const words = eventWords(event);
      return words === undefined ? undefined : lineOf(event, 'note', words, textIn(event, 'output'));
    }
  }
}

/** The note of a command that goes on. */
const IN_BACKGROUND = 'runs in the background';

function finished(before: TimelineEntry, what: string, event: TimelineEvent): TimelineEntry {
  const code = event['exit_code'];
  const isOk = event['ok'] !== false;
  const why = textIn(event, 'note') || (typeof code === 'number' ? `exit code ${code}` : '');
  // What goes on has no outcome yet.
  const mark = why === IN_BACKGROUND ? '…' : isOk ? '✓' : '✗';
  return {
    ...before,
    kind: isOk ? 'tool' : 'failed',
    words: `${mark} ${what}${after(': ', why)}`,
    detail: textIn(event, 'output') || textIn(event, 'error'),
  };
}

function decidedWords(event: TimelineEvent, allowed: string): string {
  const verdict = textIn(event, 'verdict');
  const by = textIn(event, 'answered_by');
  const how = Array.isArray(event['edits']) ? ' as edited' : '';
  const mark = verdict === 'deny' ? '✗' : verdict === 'withdrawn' ? '–' : '✓';
  return `${mark} ${verdictWords[verdict] ?? verdict}${how}: ${allowed}${after(', by ', by)}${after(': ', textIn(event, 'reason'))}`;
}

/** What was allowed, which may be something else than what was asked. */
function allowedWords(event: TimelineEvent): string {
  const edits: unknown = event['edits'];
  const edit: unknown = Array.isArray(edits) ? edits[0] : undefined;
  const isEdit = typeof edit === 'object' && edit !== null && 'allowed' in edit;
  if (!isEdit || typeof edit.allowed !== 'string') return summaryOf(event);
  return `${textIn(event, 'tool')}(${edit.allowed})`;
}

function summaryOf(event: TimelineEvent): string {
  // The whole plan is in its question.
  if (event['tool'] === 'ExitPlanMode') return 'a plan';
  return textIn(event, 'summary') || textIn(event, 'tool');
}

function after(before: string, text: string): string {
  return text === '' ? '' : `${before}${text}`;
}

/** Undefined for what a person need not know. */
function eventWords(event: TimelineEvent): string | undefined {
  const text = (name: string): string => textIn(event, name);
  switch (event.type) {
    case 'turn-started':
    case 'ending':
    case 'keys':
    case 'output':
    case 'detached':
      return undefined;
    case 'attached':
      return event['read_only'] === true ? undefined : 'The terminal was opened, to type in it.';
    case 'typed':
      return `A person typed at the terminal: ${String(event['bytes'])} bytes.`;
    case 'interrupt':
      return `Interrupted by ${text('by') || 'the caller'}.`;
    case 'trouble-over':
      return 'The session goes on.';
    case 'answer-too-late':
      return 'The session had moved on before the answer arrived.';
    case 'notice':
    case 'trouble':
      return text('text');
    case 'storage':
      return `Storage: ${text('words')}`;
    case 'budget':
      return event['state'] === 'low'
        ? `Four fifths of a budget are used: ${text('words')}.`
        : 'The budget is used up: a call did not run.';
    case 'command-ended': {
      const code = event['exit_code'];
      const how = text('note') || (typeof code === 'number' ? `exit code ${code}` : 'it ended');
      return `${code === 0 ? '✓' : '✗'} ${text('command')}: ${how}`;
    }
    case 'leftovers-ended':
      return `Ended what still ran: ${namesOf(event['programs'])}`;
    default:
      return `${event.type.replaceAll('-', ' ')}${fieldsOf(event)}`;
  }
}

function namesOf(names: unknown): string {
  return Array.isArray(names) ? [...new Set(names.map(String))].join(', ') : '';
}

/** The fields of an event that has no words of its own. */
function fieldsOf(event: TimelineEvent): string {
  const fields = Object.entries(event)
    .filter(([name, value]) => !['seq', 'at', 'type'].includes(name) && value !== null && value !== '')
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return fields.length === 0 ? '' : `: ${fields.join(', ')}`;
}
