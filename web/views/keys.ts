import { useEffect } from 'preact/hooks';

/** Keys that may be held down. */
const HELD = /^[jk]$/;

const handlers = new Map<string, (() => void)[]>();

/** Calls `act` for a key outside of text fields and terminals, until the result is called. The newest one has the key. */
export function onKey(key: string, act: () => void): () => void {
  handlers.set(key, [...(handlers.get(key) ?? []), act]);
  return () =>
    handlers.set(
      key,
      (handlers.get(key) ?? []).filter((one) => one !== act),
    );
}

/** A key outside of text fields and terminals, and without another one that is held. */
export function isBareKey({ ctrlKey, metaKey, altKey, isComposing, target }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || isComposing) return false;
  const texts = 'input, textarea, select, [contenteditable], .xterm';
  return !(target instanceof HTMLElement) || target.closest(texts) === null;
}

/** The one listener for all keys of a page. */
export function useKeys(): void {
  useEffect(() => {
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

function pressed(event: KeyboardEvent): void {
  // What has the focus took it.
  if (event.defaultPrevented || !isBareKey(event)) return;
  const act = handlers.get(event.key)?.at(-1);
  if (act === undefined) return;
  // A key that is held down answers nothing.
  if (event.repeat && !HELD.test(event.key)) return;
  event.preventDefault();
  act();
}
