// Pure: what of a journal stands on the timeline of a recording.
import { z } from 'zod';
import { oneLine } from '../../base/text/text.js';
import type { TimelineEvent } from '../state.js';
import type { ReplayMark } from './replay-state.js';

const MAX_WORDS_CHARS = 200;
/** More marks are not shown: of tools the oldest are left out. */
export const MAX_MARKS = 5_000;
const editsSchema = z.array(z.object({ allowed: z.string() }));
const verdictWords: Readonly<Record<string, string>> = {
  allow: 'Allowed',
  allow_session: 'Allowed for the session',
  deny: 'Denied',
  withdrawn: 'Withdrawn',
};

/** Finds the marks of a journal, whose events it gets in order. */
export class JournalMarks {
  /** What was asked and is not answered. A request that a rule answered was never asked. */
  readonly #asked = new Set<string>();

  marksOf(events: readonly TimelineEvent[]): ReplayMark[] {
    return events.flatMap((event) => {
      const mark = this.#markOf(event);
      if (mark === undefined) return [];
      const words = oneLine(mark.words, MAX_WORDS_CHARS);
      return [{ ...mark, words, seq: event.seq, at_ms: Date.parse(event.at) }];
    });
  }

  #markOf(event: TimelineEvent): Pick<ReplayMark, 'kind' | 'words'> | undefined {
    const summary = textOf(event, 'summary');
    const decisionId = textOf(event, 'decision_id');
    switch (event.type) {
      case 'decision-asked':
        this.#asked.add(decisionId);
        return { kind: 'decision', words: summary };
      case 'decision-closed':
        if (!this.#asked.delete(decisionId)) return undefined;
        return { kind: 'answer', words: answerWords(event, summary) };
      case 'tool-started':
        return { kind: 'tool', words: summary === '' ? textOf(event, 'tool') : summary };
      case 'tool-finished':
        if (event['ok'] !== false) return undefined;
        return { kind: 'failed', words: `${summary === '' ? textOf(event, 'tool') : summary} failed` };
      default:
        return undefined;
    }
  }
}

export function boundedMarks(marks: readonly ReplayMark[]): readonly ReplayMark[] {
  let tooMany = marks.length - MAX_MARKS;
  if (tooMany <= 0) return marks;
  const withoutOldTools = marks.filter(({ kind }) => kind !== 'tool' || tooMany-- <= 0);
  return withoutOldTools.slice(-MAX_MARKS);
}

function answerWords(event: TimelineEvent, summary: string): string {
  const verdict = textOf(event, 'verdict');
  const by = textOf(event, 'answered_by');
  const said = `${verdictWords[verdict] ?? verdict}${by === '' ? '' : ` by ${by}`}`;
  const edits = editsSchema.safeParse(event['edits']).data ?? [];
  if (edits.length === 0) return `${said}: ${summary}`;
  return `${said} as edited: ${edits.map(({ allowed }) => allowed).join(', ')} (asked: ${summary})`;
}

function textOf(event: TimelineEvent, name: string): string {
  const value = event[name];
  return typeof value === 'string' ? value : '';
}
