import { useEffect, useState } from 'preact/hooks';
import { KeysHelp } from './keys-help.js';

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

function pressed(event: KeyboardEvent): void {
  if (!isBareKey(event)) return;
  const act = handlers.get(event.key)?.at(-1);
  if (act === undefined) return;
  // A key that is held down answers nothing.
  if (event.repeat && !HELD.test(event.key)) return;
  event.preventDefault();
  act();
}

/** The list of keys, if there is one, and the one listener for all of them. */
export function Keys({ hasHelp = true }: { readonly hasHelp?: boolean }) {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    addEventListener('keydown', pressed);
    const off = hasHelp ? onKey('?', () => setIsShown((before) => !before)) : () => undefined;
    return () => {
      removeEventListener('keydown', pressed);
      off();
    };
  }, []);
  useEffect(() => (isShown ? onKey('Escape', () => setIsShown(false)) : undefined), [isShown]);
  return isShown ? <KeysHelp onClose={() => setIsShown(false)} /> : null;
}
