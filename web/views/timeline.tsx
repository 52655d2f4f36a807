import { useState } from 'preact/hooks';
import type { TaskState } from '../../src/board/state.js';
import { clockTime, finishWords, visible } from '../text/words.js';
import { AsMarkdown } from './as-markdown.js';
import { Block, Button, Prose } from './parts.js';
import { entriesOf, type TimelineEntry } from './timeline-entries.js';

/** Newer entries than these are shown at first; the rest on demand, so that a long task is there at once. */
const FIRST_ENTRIES = 200;
const MORE_ENTRIES = 1_000;

/** What only a text in Markdown has. */
const MARKS = /\*\*|`|^(?:#{1,6} |[-*+] |\d+\. |> |\|)|\]\(/m;

/** What happened, in the order of the journal. */
export function Timeline({ state }: { readonly state: TaskState }) {
  const [shown, setShown] = useState(FIRST_ENTRIES);
  const entries = [...entriesOf(state.events), ...worktreeEntries(state)];
  const hidden = Math.max(0, entries.length - shown);
  return (
    <ol class="timeline">
      {state.earlier_events > 0 && hidden === 0 && (
        <li class="quiet">{state.earlier_events} earlier events are in the journal and not shown here.</li>
      )}
      {hidden > 0 && (
        <li>
          <Button act={() => setShown(shown + MORE_ENTRIES)}>
            Show {Math.min(hidden, MORE_ENTRIES)} earlier entries ({hidden} are hidden)
          </Button>
        </li>
      )}
      {entries.slice(hidden).map((entry) => (
        <Entry key={entry.seq} entry={entry} />
      ))}
      {entries.length === 0 && <li class="empty">Nothing has happened yet.</li>}
    </ol>
  );
}

/** What became of a worktree is decided after the journal was closed. */
function worktreeEntries({ task, events }: TaskState): TimelineEntry[] {
  const end = task?.worktree_end;
  if (end == null) return [];
  const seq = (events.at(-1)?.seq ?? 0) + 1;
  return [{ seq, at: end.at, kind: 'ended', words: finishWords(end), detail: '' }];
}

function Entry({ entry }: { readonly entry: TimelineEntry }) {
  const words = <Words entry={entry} />;
  return (
    <li class={`entry is-${entry.kind}`}>
      <time dateTime={entry.at}>{clockTime(entry.at)}</time>
      <div class="entry-body">
        {entry.detail === '' ? (
          words
        ) : (
          <details>
            <summary>{words}</summary>
            <Block label={entry.kind === 'decided' ? 'What was edited' : 'Output'} text={entry.detail} />
          </details>
        )}
      </div>
    </li>
  );
}

function Words({ entry: { kind, words } }: { readonly entry: TimelineEntry }) {
  const plain = (
    <span class="words" dir="auto">
      {kind === 'ended' ? <Prose text={words} /> : visible(words)}
    </span>
  );
  if (kind !== 'said' && kind !== 'message') return plain;
  const isRead = kind === 'said' && MARKS.test(words);
  return (
    <>
      <span class="who">{kind === 'said' ? 'Claude' : 'To Claude'}</span>{' '}
      {isRead ? <AsMarkdown label="Claude" text={words} plain={plain} /> : plain}
    </>
  );
}
