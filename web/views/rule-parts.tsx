import type { RulePartView } from '../../src/board/state.js';
import { visible } from '../text/visible.js';

/** The commands of a line, and which rule said what about each. */
export function RuleParts({ parts }: { readonly parts: readonly RulePartView[] }) {
  if (parts.length === 0) return null;
  return (
    <ul class="parts" aria-label="Parts and their rules">
      {parts.map(({ part, depth, verdict, rule, reason, from }, at) => (
        <li key={at} style={{ marginLeft: `${depth}rem` }}>
          <code dir="auto">{visible(part)}</code>{' '}
          <span class="quiet">
            {rule !== null && `${verdict} by ${visible(rule)} (${visible(from ?? '')}): `}
            {visible(reason)}
          </span>
        </li>
      ))}
    </ul>
  );
}
