// Pure: the lines of a timeline from the events of a journal.
import type { TimelineEvent } from '../../src/board/state.js';

export interface TimelineEntry {
  /** Of its first event. */
  readonly seq: number;
  readonly at: string;
  readonly kind: 'message' | 'said' | 'tool' | 'failed' | 'asked' | 'decided' | 'status' | 'ended' | 'note';
  readonly words: string;
  /** Shown on demand: what a command printed. */
  readonly detail: string;
}

/** A line for each event that a person wants to see; a tool and its end are one. */
export function entriesOf(events: readonly TimelineEvent[]): TimelineEntry[] {
  const entries: TimelineEntry[] = [];
  /** Where the starts of tools are that have not ended, by their names; of several the first one ends first. */
  const started = new Map<string, number[]>();
  for (const event of events) {
    const tool = textOf(event, 'tool');
    if (event.type === 'tool-finished') {
      const at = started.get(tool)?.shift();
      const before = at === undefined ? undefined : entries[at];
      if (at !== undefined && before !== undefined) {
        entries[at] = finished(before, event);
        continue;
      }
    }
    const entry = entryOf(event);
    if (entry === undefined) continue;
    if (event.type === 'tool-started') started.set(tool, [...(started.get(tool) ?? []), entries.length]);
    entries.push(entry);
  }
  return entries;
}

function entryOf(event: TimelineEvent): TimelineEntry | undefined {
  const { seq, at, type } = event;
  const entry = (kind: TimelineEntry['kind'], words: string, detail = ''): TimelineEntry => ({
    ...{ seq, at, kind, words, detail },
  });
  const summary = textOf(event, 'summary') || textOf(event, 'tool');
  switch (type) {
    case 'message':
      return entry('message', textOf(event, 'text'));
    case 'said':
      return entry('said', textOf(event, 'text'));
    case 'tool-started':
      return entry('tool', `▶ ${summary}`);
    case 'tool-finished':
      return finished(entry('tool', `▶ ${summary}`), event);
    case 'decision-asked':
      return entry('asked', `? ${summary}`);
    case 'decision-closed':
      return entry('decided', decidedWords(event, summary));
    case 'status':
      return entry('status', `${textOf(event, 'to')}${after(': ', textOf(event, 'reason'))}`);
    case 'turn-ended':
      return event['error'] == null ? undefined : entry('failed', textOf(event, 'error'));
    case 'ended':
      return entry('ended', `${textOf(event, 'status')}${after(': ', textOf(event, 'reason'))}`);
    case 'turn-started':
    case 'ending':
    case 'keys':
    case 'output':
      return undefined;
    default:
      return entry('note', `${type.replaceAll('-', ' ')}${after(': ', noteOf(event))}`);
  }
}

/** The note of a command that goes on. */
const IN_BACKGROUND = 'runs in the background';

function finished(before: TimelineEntry, event: TimelineEvent): TimelineEntry {
  const code = event['exit_code'];
  const isOk = event['ok'] !== false;
  const why = textOf(event, 'note') || (typeof code === 'number' ? `exit code ${code}` : '');
  // What goes on has no outcome yet.
  const mark = why === IN_BACKGROUND ? '…' : isOk ? '✓' : '✗';
  const words = `${mark} ${before.words.replace(/^▶ /, '')}${after(': ', why)}`;
  return {
    ...before,
    kind: isOk ? 'tool' : 'failed',
    words,
    detail: textOf(event, 'output') || textOf(event, 'error'),
  };
}

function decidedWords(event: TimelineEvent, summary: string): string {
  const words: Readonly<Record<string, string>> = {
    allow: '✓ allowed',
    allow_session: '✓ allowed for the session',
    deny: '✗ denied',
    withdrawn: '– withdrawn',
  };
  const verdict = textOf(event, 'verdict');
  const by = textOf(event, 'answered_by');
  const how = Array.isArray(event['edits']) ? ' with another input' : '';
  return `${words[verdict] ?? verdict}${how}: ${summary}${after(', by ', by)}${after(': ', textOf(event, 'reason'))}`;
}

/** The fields of an event that has no words of its own. */
function noteOf(event: TimelineEvent): string {
  return Object.entries(event)
    .filter(([name, value]) => !['seq', 'at', 'type'].includes(name) && value !== null && value !== '')
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

function after(before: string, text: string): string {
  return text === '' ? '' : `${before}${text}`;
}

function textOf(event: TimelineEvent, name: string): string {
  const value = event[name];
  return typeof value === 'string' ? value : '';
}
