// Pure: the lines of a timeline from the events of a journal.
import type { TimelineEvent } from '../../src/board/state.js';
import { isFields, textIn, verdictWords } from '../text/fields.js';

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
/** The note of a command that goes on. */
const IN_BACKGROUND = 'runs in the background';
/** The reasons of a status that the lines before it say already. */
const SAID = /^(?:Waits for an answer to: |The agent runs\.$)/;

/** A tool that has started and not ended: its line, unless its question stands for it. */
interface Started {
  readonly tool: string;
  readonly summary: string;
  line: TimelineEntry | undefined;
}

/** A line for each event that a person wants to see; a tool and its end are one line, and a question has one line. */
export function entriesOf(events: readonly TimelineEvent[]): TimelineEntry[] {
  const lines: TimelineEntry[] = [];
  /** Of several of one name the first one ends first. */
  const started: Started[] = [];
  const replace = (line: TimelineEntry | undefined, ...instead: TimelineEntry[]): void => {
    const at = line === undefined ? -1 : lines.lastIndexOf(line);
    if (at === -1) lines.push(...instead);
    else lines.splice(at, 1, ...instead);
  };
  const find = (event: TimelineEvent): Started | undefined => {
    const ofTool = started.filter(({ tool }) => tool === event['tool']);
    const same = ofTool.find(({ summary }) => summary === event['summary']);
    return same ?? (ofTool.length === 1 || event.type === 'tool-finished' ? ofTool[0] : undefined);
  };
  const forget = (one: Started | undefined): void => {
    if (one !== undefined) started.splice(started.indexOf(one), 1);
  };
  const leaveOpen = (why: string): void => {
    for (const { line, summary } of started.splice(0))
      if (line !== undefined) replace(line, { ...line, words: `– ${summary}: ${why}` });
  };
  const take = (event: TimelineEvent): void => {
    const one = find(event);
    const isAsking = ASKING.has(textIn(event, 'tool'));
    switch (event.type) {
      case 'tool-started': {
        const line = lineOf(event, 'tool', `▶ ${summaryOf(event)}`);
        lines.push(line);
        started.push({ tool: textIn(event, 'tool'), summary: summaryOf(event), line });
        return;
      }
      case 'tool-finished':
        forget(one);
        if (isAsking && one !== undefined && one.line === undefined) return;
        return replace(one?.line, finished(one, event));
      case 'decision-asked':
        // The question takes the place of the line that says that the tool starts: it does not run yet.
        if (one?.line !== undefined) replace(one.line);
        if (one !== undefined) one.line = undefined;
        lines.push(lineOf(event, 'asked', `? ${summaryOf(event)}`));
        return;
      case 'decision-closed': {
        const isAllowed = textIn(event, 'verdict').startsWith('allow');
        if (!isAllowed) forget(one);
        if (!isAllowed && one?.line !== undefined) replace(one.line);
        lines.push(lineOf(event, 'decided', decidedWords(event), editedWords(event)));
        // What was asked about runs from now on.
        if (one === undefined || one.line !== undefined || !isAllowed || isAsking) return;
        one.line = lineOf({ ...event, seq: event.seq + 0.5 }, 'tool', `▶ ${allowedWords(event)}`);
        lines.push(one.line);
        return;
      }
      case 'said': {
        // It is read later than a hook reports the tool that follows it; it stands where it was said.
        const at = textIn(event, 'said_at') || event.at;
        const before = lines.findLastIndex((line) => line.at <= at || line.kind === 'message');
        lines.splice(before + 1, 0, lineOf({ ...event, at }, 'said', textIn(event, 'text')));
        return;
      }
      case 'turn-ended':
        leaveOpen(event['interrupted'] === true ? 'interrupted' : 'its end was not reported');
        break;
      case 'ended':
        leaveOpen('it ended with the task');
        break;
    }
    lines.push(...otherLine(event));
  };
  events.forEach(take);
  return lines;
}

function lineOf(
  { seq, at }: TimelineEvent,
  kind: TimelineEntry['kind'],
  words: string,
  detail = '',
): TimelineEntry {
  return { seq, at, kind, words, detail };
}

function otherLine(event: TimelineEvent): TimelineEntry[] {
  const [reason, error] = [textIn(event, 'reason'), textIn(event, 'error')];
  switch (event.type) {
    case 'message':
      return [lineOf(event, 'message', textIn(event, 'text'))];
    case 'status':
      if (SAID.test(reason)) return [];
      return [lineOf(event, 'status', `${textIn(event, 'to')}${after(': ', reason)}`)];
    case 'turn-ended':
      return error === '' ? [] : [lineOf(event, 'failed', error)];
    case 'ended':
      return [lineOf(event, 'ended', `${textIn(event, 'status')}${after(': ', reason)}`)];
    default: {
      const words = eventWords(event);
      return words === undefined ? [] : [lineOf(event, 'note', words, textIn(event, 'output'))];
    }
  }
}

function finished(one: Started | undefined, event: TimelineEvent): TimelineEntry {
  const isOk = event['ok'] !== false;
  const why = textIn(event, 'note') || exitWords(event);
  // What goes on has no outcome yet.
  const mark = why === IN_BACKGROUND ? '…' : isOk ? '✓' : '✗';
  const what = textIn(event, 'summary') || one?.summary || textIn(event, 'tool');
  return {
    ...(one?.line ?? lineOf(event, 'tool', '')),
    kind: isOk ? 'tool' : 'failed',
    words: `${mark} ${what}${after(': ', why)}`,
    detail: textIn(event, 'output') || textIn(event, 'error'),
  };
}

function exitWords({ exit_code: code }: TimelineEvent): string {
  return typeof code === 'number' ? `exit code ${code}` : '';
}

function decidedWords(event: TimelineEvent): string {
  const verdict = textIn(event, 'verdict');
  const how = Array.isArray(event['edits']) ? ' as edited' : '';
  const mark = verdict === 'deny' ? '✗' : verdict === 'withdrawn' ? '–' : '✓';
  const by = after(', by ', textIn(event, 'answered_by'));
  return `${mark} ${verdictWords[verdict] ?? verdict}${how}: ${allowedWords(event)}${by}${after(': ', textIn(event, 'reason'))}`;
}

/** What was asked and what was allowed instead, whole; empty where nothing was edited. */
function editedWords({ edits }: TimelineEvent): string {
  return (Array.isArray(edits) ? edits.filter(isFields) : [])
    .flatMap((edit) =>
      ['asked', 'allowed'].map((how) => `${textIn(edit, 'field')} as ${how}:\n${textIn(edit, how)}`),
    )
    .join('\n\n');
}

/** What was allowed, which may be something else than what was asked. */
function allowedWords(event: TimelineEvent): string {
  const [edit]: readonly unknown[] = Array.isArray(event['edits']) ? event['edits'] : [];
  const allowed = isFields(edit) ? textIn(edit, 'allowed') : '';
  return allowed === '' ? summaryOf(event) : `${textIn(event, 'tool')}(${allowed})`;
}

function summaryOf(event: TimelineEvent): string {
  // The whole plan is in its question.
  if (event['tool'] === 'ExitPlanMode') return 'a plan';
  return textIn(event, 'summary') || textIn(event, 'tool');
}

function after(before: string, text: string): string {
  return text === '' ? '' : `${before}${text}`;
}

/** What a person need not know. */
const UNTOLD: ReadonlySet<string> = new Set(['turn-started', 'ending', 'keys', 'output', 'detached']);

/** Undefined for what a person need not know. */
function eventWords(event: TimelineEvent): string | undefined {
  const text = (name: string): string => textIn(event, name);
  const { seq: _seq, at: _at, type, ...fields } = event;
  switch (type) {
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
    case 'checks': {
      const results = Array.isArray(event['results']) ? event['results'].filter(isFields) : [];
      return `Checks: ${results.map((one) => `${textIn(one, 'name')} ${textIn(one, 'verdict')}`).join(', ')}.`;
    }
    case 'command-ended': {
      const how = text('note') || exitWords(event) || 'it ended';
      return `${event['exit_code'] === 0 ? '✓' : '✗'} ${text('command')}: ${how}`;
    }
    case 'leftovers-ended': {
      const names = event['programs'];
      return `Ended what still ran: ${Array.isArray(names) ? [...new Set(names)].join(', ') : ''}`;
    }
  }
  const told = Object.entries(fields)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return UNTOLD.has(type) ? undefined : `${type.replaceAll('-', ' ')}${after(': ', told.join(', '))}`;
}
