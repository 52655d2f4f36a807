import { useState } from 'preact/hooks';

/** What was typed and not sent, by place; as long as the page is open. */
const drafts = new Map<string, string>();

/** A text that is still there when its box is shown again. */
export function useDraft(place: string): readonly [string, (text: string) => void] {
  const [, redraw] = useState(0);
  const set = (text: string): void => {
    if (text === '') drafts.delete(place);
    else drafts.set(place, text);
    redraw((before) => before + 1);
  };
  return [drafts.get(place) ?? '', set];
}
