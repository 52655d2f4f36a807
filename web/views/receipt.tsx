import type { TaskState } from '../../src/board/state.js';
import { visible } from '../text/words.js';
import { AsMarkdown } from './as-markdown.js';
import { Block, Numbers } from './parts.js';
import { LOOK, receiptFacts, type CheckedCommand } from './receipt-parts.js';

/** What a task did, checked against git and its commands: sums and last words first, then what each sum is made of. */
export function ReceiptView({ state }: { readonly state: TaskState }) {
  const { receipt, task, final_message: said } = state;
  if (receipt === null) {
    return (
      <p class="empty">
        {task?.is_final === true
          ? 'The receipt is being made.'
          : 'The receipt says what the task did, checked against git. It is made when the task ends.'}
      </p>
    );
  }
  const { sums, commands, lists } = receiptFacts(receipt);
  return (
    <div class="receipt">
      <ul class="sums">
        {sums.map(([number, words]) => (
          <li key={words}>
            <b>{number}</b> {words}
          </li>
        ))}
      </ul>
      {said !== '' && (
        <section>
          <h3>What it said last</h3>
          <AsMarkdown label="What it said last" text={said} plain={<p class="words">{visible(said)}</p>} />
        </section>
      )}
      {commands.length > 0 && (
        <section>
          <h3>Commands</h3>
          <ul class="checks">
            {commands.map((command, at) => (
              <Command key={at} command={command} />
            ))}
          </ul>
        </section>
      )}
      {lists.map(({ title, rows }) => (
        <section key={title} class={title === LOOK ? 'look' : undefined}>
          <h3>{title}</h3>
          <ul class="rows">
            {rows.map(({ words, added, removed = 0 }, at) => (
              <li key={at}>
                <span dir="auto">{visible(words)}</span>
                {added !== undefined && <Numbers added={added} removed={removed} />}
              </li>
            ))}
          </ul>
        </section>
      ))}
      <details>
        <summary>All of the receipt</summary>
        <Block label="All of the receipt" text={JSON.stringify(receipt, null, 2)} isWrapped />
      </details>
    </div>
  );
}

const marks = {
  good: 'M4.5 8.2l2.3 2.3 4.7-5',
  failed: 'M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4',
  unknown: 'M4.5 8h7',
} as const;

/** A command, and how it ended: the mark says it, and so do the words. */
function Command({ command: { command, how, isOk } }: { readonly command: CheckedCommand }) {
  const mark = isOk === undefined ? 'unknown' : isOk ? 'good' : 'failed';
  return (
    <li class="check">
      <svg class={`mark ${mark}`} viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="8" fill="currentColor" />
        <path d={marks[mark]} fill="none" stroke="var(--pane)" stroke-width="1.8" />
      </svg>
      <code dir="auto">{visible(command)}</code>
      <small>{visible(how)}</small>
    </li>
  );
}
