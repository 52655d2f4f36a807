import type { TaskState } from '../../src/board/state.js';
import { visible } from '../text/visible.js';
import { receiptParts, type ReceiptPart } from './receipt-parts.js';
import { ReceiptRest } from './receipt-rest.js';

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
      {receiptParts(receipt).map((part) => (
        <Part key={part.title} part={part} />
      ))}
      {state.final_message !== '' && (
        <section>
          <h3>What it said last</h3>
          <p class="words" dir="auto">
            {visible(state.final_message)}
          </p>
        </section>
      )}
      <ReceiptRest receipt={receipt} />
    </div>
  );
}

function Part({ part: { title, lines } }: { readonly part: ReceiptPart }) {
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {lines.map((line, at) => (
          <li key={at} dir="auto">
            {visible(line)}
          </li>
        ))}
      </ul>
    </section>
  );
}
