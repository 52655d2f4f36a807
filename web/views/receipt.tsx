import type { ComponentChildren } from 'preact';
import type { TaskState } from '../../src/board/state.js';
import { visible } from '../text/words.js';
import { AsMarkdown } from './as-markdown.js';
import { Mark } from './checks.js';
import { Block, Numbers } from './parts.js';
import { LOOK, receiptFacts } from './receipt-parts.js';

/** What a task did, checked against git and its commands: sums and last words first, then what each sum is made of. */
export function ReceiptView({ state }: { readonly state: TaskState }) {
  const { receipt, task, final_message: said } = state;
  if (receipt === null)
    return (
      <p class="empty">
        {task?.is_final === true
          ? 'The receipt is being made.'
          : 'The receipt says what the task did, checked against git. It is made when the task ends.'}
      </p>
    );
  const { sums, commands, lists } = receiptFacts(receipt);
  const section = (title: string, shown: ComponentChildren) => (
    <section key={title} class={title === LOOK ? 'look' : undefined}>
      <h3>{title}</h3>
      {shown}
    </section>
  );
  const plain = <p class="words">{visible(said)}</p>;
  const checks = commands.map(({ command, how, isOk }, at) => (
    <li key={at} class="check">
      <Mark of={isOk === undefined ? 'unknown' : isOk ? 'good' : 'failed'} />
      <code dir="auto">{visible(command)}</code>
      <small>{visible(how)}</small>
    </li>
  ));
  return (
    <div class="receipt">
      <ul class="sums">
        {sums.map(([number, words]) => (
          <li key={words}>
            <b>{number}</b> {words}
          </li>
        ))}
      </ul>
      {said !== '' &&
        section('What it said last', <AsMarkdown label="What it said last" text={said} plain={plain} />)}
      {commands.length > 0 && section('Commands', <ul class="checks">{checks}</ul>)}
      {lists.map(([title, rows]) => {
        const items = rows.map(({ words, added, removed = 0 }, at) => (
          <li key={at}>
            <span dir="auto">{visible(words)}</span>
            {added !== undefined && <Numbers added={added} removed={removed} />}
          </li>
        ));
        return section(title, <ul class={title === 'Notes' ? 'rows prose' : 'rows'}>{items}</ul>);
      })}
      <details>
        <summary>All of the receipt</summary>
        <Block label="All of the receipt" text={JSON.stringify(receipt, null, 2)} isWrapped />
      </details>
    </div>
  );
}
