import type { TaskState } from '../../src/board/state.js';
import { visible } from '../text/words.js';
import { AsMarkdown } from './as-markdown.js';
import { Block } from './parts.js';
import { receiptFacts, type CheckedCommand, type ReceiptRow } from './receipt-parts.js';

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
  const { sums, look, commands, lists } = receiptFacts(receipt);
  const plain = <p class="words">{visible(said)}</p>;
  return (
    <div class="receipt">
      <ul class="sums">
        {sums.map(({ number, words }) => (
          <li key={words}>
            <b>{number}</b> {words}
          </li>
        ))}
      </ul>
      {look.length > 0 && (
        <section class="look">
          <h3>Look at these files</h3>
          <Rows rows={look} />
        </section>
      )}
      {said !== '' && (
        <section>
          <h3>What it said last</h3>
          <AsMarkdown label="What it said last" text={said} plain={plain} />
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
        <section key={title}>
          <h3>{title}</h3>
          <Rows rows={rows} />
        </section>
      ))}
      <details>
        <summary>All of the receipt</summary>
        <Block label="All of the receipt" text={JSON.stringify(receipt, null, 2)} isWrapped />
      </details>
    </div>
  );
}

function Rows({ rows }: { readonly rows: readonly ReceiptRow[] }) {
  return (
    <ul class="rows">
      {rows.map(({ words, added, removed }, at) => (
        <li key={at}>
          <span dir="auto">{visible(words)}</span>
          {added !== undefined && <Numbers added={added} removed={removed ?? 0} />}
        </li>
      ))}
    </ul>
  );
}

/** How many lines came and went. */
export function Numbers({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span class="numbers">
      <span class="ok">+{added}</span> <span class="bad">−{removed}</span>
    </span>
  );
}

/** A command, and how it ended: the mark says it, and so do the words. */
function Command({ command: { command, how, isOk } }: { readonly command: CheckedCommand }) {
  const mark = isOk === undefined ? '' : isOk ? 'good' : 'failed';
  const path =
    isOk === undefined ? 'M4.5 8h7' : isOk ? 'M4.5 8.2l2.3 2.3 4.7-5' : 'M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4';
  return (
    <li class="check">
      <svg class={`mark ${mark}`} viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="8" fill="currentColor" />
        <path d={path} fill="none" stroke="var(--pane)" stroke-width="1.8" />
      </svg>
      <code dir="auto">{visible(command)}</code>
      <small>{visible(how)}</small>
    </li>
  );
}
