import { Block } from '../views/request.js';

/** A plan as it is written: the parser of Markdown has no room in a chat. */
export function Plan({ text }: { readonly text: string }) {
  return <Block label="Plan" text={text} isWrapped />;
}
