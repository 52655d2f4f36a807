import { useEffect } from 'preact/hooks';

/** Keys that may be held down. */
const HELD = /^[jk]$/;

const acts = new Map<string, () => void>();

/** What keys do outside of text fields and terminals, while a part of the page is there. */
export function useKeys(own: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const added = Object.entries(own);
    for (const [key, act] of added) acts.set(key, act);
    return () => {
      for (const [key, act] of added) if (acts.get(key) === act) acts.delete(key);
    };
  });
}

/** A key outside of text fields and terminals, and without another one that is held. */
export function isBareKey({ ctrlKey, metaKey, altKey, isComposing, target }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || isComposing) return false;
  const texts = 'input, textarea, select, [contenteditable], .xterm';
  return !(target instanceof HTMLElement) || target.closest(texts) === null;
}

addEventListener('keydown', (event) => {
  // What has the focus took it.
  if (event.defaultPrevented || !isBareKey(event)) return;
  const act = acts.get(event.key);
  // A key that is held down answers nothing.
  if (act === undefined || (event.repeat && !HELD.test(event.key))) return;
  event.preventDefault();
  act();
});
