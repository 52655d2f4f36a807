import { visible } from '../text/visible.js';

/** What Claude said as it is written: the parser of Markdown has no room in a chat. */
export function Markdown({ text }: { readonly text: string }) {
  return (
    <span class="words" dir="auto">
      {visible(text)}
    </span>
  );
}
