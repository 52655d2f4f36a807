import type { TaskState } from '../../src/board/state.js';
import { visible } from '../text/words.js';
import { Block } from './parts.js';
import { receiptParts } from './receipt-parts.js';

/** What a task did, checked against git and its commands: first what a person wants to know, then the rest. */
export function ReceiptView({ state }: { readonly state: TaskState }) {
  const { receipt, task } = state;
  if (receipt === null) {
    return (
      <p class="empty">
        {task?.is_final === true
          ? 'The receipt is being made.'
          : 'The receipt says what the task did, checked against git. It is made when the task ends.'}
      </p>
    );
  }
  return (
    <div class="receipt">
      {receiptParts(receipt).map(({ title, lines }) => (
        <section key={title}>
          <h3>{title}</h3>
          <ul>
            {lines.map((line, at) => (
              <li key={at} dir="auto">
                {visible(line)}
              </li>
            ))}
          </ul>
        </section>
      ))}
      {state.final_message !== '' && (
        <section>
          <h3>What it said last</h3>
          <p class="words" dir="auto">
            {visible(state.final_message)}
          </p>
        </section>
      )}
      <details>
        <summary>All of the receipt</summary>
        <Block label="All of the receipt" text={JSON.stringify(receipt, null, 2)} isWrapped />
      </details>
    </div>
  );
}
