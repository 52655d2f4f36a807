import type { CheckRows, TaskState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { homeOf } from '../text/machines.js';
import { shortPath, span, visible } from '../text/words.js';
import { Block } from './parts.js';

const looks = { met: 'good', 'not met': 'failed', 'not run': 'unknown' } as const;
/** Below it a time has a decimal. */
const SHORT_SECONDS = 10;

interface ChecksProps {
  readonly store: Store;
  readonly state: Pick<TaskState, 'brief' | 'checks' | 'task'>;
}

/** The brief of a task, folded, and what came of its checks; nothing where it has neither. */
export function ChecksView({ store, state: { brief, checks, task } }: ChecksProps) {
  const home = task === null ? '' : homeOf(task, store.board.value, store.home.value);
  return (
    <>
      {brief !== '' && (
        <details class="brief">
          <summary>Brief</summary>
          <Block label="Brief" text={brief} isWrapped />
        </details>
      )}
      {checks !== null && checks.results.length > 0 && (
        <section class="checked">
          <h3>{task?.checks_met || 'Checks'}</h3>
          <ul class="checks">
            {checks.results.map((one) => (
              <Check key={one.name} of={one} home={home} />
            ))}
          </ul>
          {checks.notes.map((note) => (
            <p key={note}>{visible(note)}</p>
          ))}
        </section>
      )}
    </>
  );
}

function Check({ of: one, home }: { readonly of: CheckRows['results'][number]; readonly home: string }) {
  const { name, command, verdict, why, seconds, output = '', output_file: file } = one;
  const time =
    seconds === undefined ? '' : seconds < SHORT_SECONDS ? `${seconds.toFixed(1)} s` : span(seconds);
  return (
    <li class="check">
      <Mark of={looks[verdict]} />
      <b dir="auto" title={visible(command)}>
        {visible(name)}
      </b>
      <small>
        {verdict}
        {why !== undefined && `: ${visible(why)}`}
        {time !== '' && ` · ${time}`}
      </small>
      {file !== undefined && (
        <details>
          <summary>The end of its output</summary>
          <Block label={`The end of the output of ${name}`} text={`$ ${command}\n${output}`} isWrapped />
          <p>
            All of it: <code>{visible(shortPath(file, home))}</code>
          </p>
        </details>
      )}
    </li>
  );
}

const marks = {
  good: 'M4.5 8.2l2.3 2.3 4.7-5',
  failed: 'M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4',
  unknown: 'M4.5 8h7',
} as const;

/** How a command or a check ended, which the words beside it say too. */
export function Mark({ of: how }: { readonly of: keyof typeof marks }) {
  return (
    <svg class={`mark ${how}`} viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="8" fill="currentColor" />
      <path d={marks[how]} fill="none" stroke="var(--pane)" stroke-width="1.8" />
    </svg>
  );
}
