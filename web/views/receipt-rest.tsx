import type { ComponentChildren } from 'preact';
import type { ReceiptFacts } from '../../src/board/state.js';
import { visible } from '../text/visible.js';
import { Block } from './request.js';

/** Every field of a receipt, folded. */
export function ReceiptRest({ receipt }: { readonly receipt: ReceiptFacts }) {
  return (
    <details>
      <summary>All of the receipt</summary>
      {Object.entries(receipt)
        .filter(([name, value]) => name !== 'final_message' && !isEmpty(value))
        .map(([name, value]) => (
          <section key={name}>
            <h3>{name.replaceAll('_', ' ')}</h3>
            <Value value={value} />
          </section>
        ))}
    </details>
  );
}

function Value({ value }: { readonly value: unknown }): ComponentChildren {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return (
      <ul>
        {items.map((item, at) => (
          <li key={at}>
            <Value value={item} />
          </li>
        ))}
      </ul>
    );
  }
  if (typeof value === 'object' && value !== null) {
    return (
      <dl>
        {fieldsOf(value)
          .filter(([, inner]) => !isEmpty(inner))
          .map(([name, inner]) => (
            <div key={name}>
              <dt>{name.replaceAll('_', ' ')}</dt>
              <dd>
                <Value value={inner} />
              </dd>
            </div>
          ))}
      </dl>
    );
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.includes('\n') ? (
    <Block label="Text" text={text} isWrapped />
  ) : (
    <span dir="auto">{visible(text)}</span>
  );
}

function fieldsOf(value: object): (readonly [string, unknown])[] {
  return Object.entries(value);
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
