import { useState } from 'preact/hooks';
import { visible } from '../text/visible.js';
import { momentWords } from './times.js';
import { kindWords, type TimelineMark } from './timeline-marks.js';

/** Ticks nearer to each other than this share of the timeline are drawn as one. */
const TICKS = 400;
/** So many marks around the moment are listed. */
const LISTED = 200;
const choices = ['everything', 'decisions', 'tools', 'commits'] as const;
type Choice = (typeof choices)[number];

/** Where the marks are, below the slider. The list of marks says the same in words. */
export function Ticks({
  marks,
  shareOf,
  onSeek,
}: {
  readonly marks: readonly TimelineMark[];
  /** From 0 to 1. */
  readonly shareOf: (ms: number) => number;
  readonly onSeek: (ms: number) => void;
}) {
  const ticks = new Map<string, TimelineMark>();
  for (const mark of marks) ticks.set(`${mark.kind} ${Math.round(shareOf(mark.atMs) * TICKS)}`, mark);
  return (
    <div class="ticks" aria-hidden="true">
      {[...ticks].map(([key, { kind, atMs, words }]) => (
        <i
          key={key}
          class={`is-${kind}`}
          style={{ left: `${shareOf(atMs) * 100}%` }}
          title={`${momentWords(atMs)} ${kindWords[kind]}: ${visible(words)}`}
          onClick={() => onSeek(atMs)}
        />
      ))}
    </div>
  );
}

/** The marks in words; a press on one shows its moment. */
export function MarkList({
  marks,
  current,
  onSeek,
}: {
  readonly marks: readonly TimelineMark[];
  /** The last one that is not after the moment. */
  readonly current: TimelineMark | undefined;
  readonly onSeek: (ms: number) => void;
}) {
  const [choice, setChoice] = useState<Choice>('everything');
  const chosen = marks.filter(({ kind }) => isChosen(kind, choice));
  const now = chosen.findLastIndex((mark) => current !== undefined && mark.atMs <= current.atMs);
  const from = Math.max(0, Math.min(now - LISTED / 2, chosen.length - LISTED));
  const listed = chosen.slice(from, from + LISTED);
  return (
    <section class="marks" aria-label="What happened">
      <label>
        Show{' '}
        <select
          value={choice}
          onChange={(event) => setChoice(choices[event.currentTarget.selectedIndex] ?? 'everything')}
        >
          {choices.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      {chosen.length > listed.length && (
        <p class="quiet">
          The {listed.length} nearest of {chosen.length}.
        </p>
      )}
      {chosen.length === 0 && <p class="quiet">There are none.</p>}
      <ol>
        {listed.map((mark) => (
          <li key={mark.key}>
            <button
              type="button"
              class={`mark is-${mark.kind}`}
              aria-current={mark === chosen[now] ? 'true' : undefined}
              onClick={() => onSeek(mark.atMs)}
            >
              <span class="quiet">
                {momentWords(mark.atMs)} {kindWords[mark.kind]}
              </span>{' '}
              <span dir="auto">{visible(mark.words)}</span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function isChosen(kind: TimelineMark['kind'], choice: Choice): boolean {
  switch (choice) {
    case 'everything':
      return true;
    case 'decisions':
      return kind === 'decision' || kind === 'answer';
    case 'tools':
      return kind === 'tool' || kind === 'failed';
    case 'commits':
      return kind === 'commit';
  }
}
