import { useState } from 'preact/hooks';

/** What was typed and not sent, by place; as long as the page is open. */
const drafts = new Map<string, string>();

/** A text that is still there when its box is shown again; `sent` takes it away, unless it was changed meanwhile. */
export function useDraft(place: string) {
  const [, redraw] = useState(0);
  const set = (text: string): void => {
    if (text === '') drafts.delete(place);
    else drafts.set(place, text);
    redraw((before) => before + 1);
  };
  const sent = (text: string): void => {
    if (drafts.get(place) === text) set('');
  };
  return { text: drafts.get(place) ?? '', set, sent };
}
