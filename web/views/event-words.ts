// Pure: the events of a journal that are neither tools nor decisions nor words of the session, in words.
import type { TimelineEvent } from '../../src/board/state.js';

/** Undefined for what a person need not know. */
export function eventWords(event: TimelineEvent): string | undefined {
  const text = (name: string): string => (typeof event[name] === 'string' ? event[name] : '');
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
    case 'events-left-out':
      return `${String(event['count'])} events were left out here: there were too many at once.`;
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
