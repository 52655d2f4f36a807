import { useEffect, useState } from 'preact/hooks';

const words: readonly (readonly [string, string])[] = [
  ['j k', 'next task, task before'],
  ['Esc', 'back to all tasks'],
  ['/', 'search'],
  ['y s n', 'allow what is asked once, for the session, deny it'],
  ['1 … 7', 'timeline, changes, terminal, replay, log, receipt, prompt'],
  ['Space', 'play or pause a replay'],
  ['t', 'take the keyboard of the terminal'],
  ['Shift+Tab', 'leave the terminal'],
  ['m', 'write a message, or go on with a task'],
  ['?', 'these keys'],
];

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

function pressed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const { target } = event;
  if (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], .xterm') !== null
  )
    return;
  const act = handlers.get(event.key)?.at(-1);
  if (act === undefined) return;
  // A key that is held down answers nothing.
  if (event.repeat && !HELD.test(event.key)) return;
  event.preventDefault();
  act();
}

/** The list of keys, and the one listener for all of them. */
export function Keys() {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    addEventListener('keydown', pressed);
    const off = onKey('?', () => setIsShown((before) => !before));
    return () => {
      removeEventListener('keydown', pressed);
      off();
    };
  }, []);
  useEffect(() => (isShown ? onKey('Escape', () => setIsShown(false)) : undefined), [isShown]);
  if (!isShown) return null;
  return (
    <div class="keys" role="dialog" aria-label="Keys">
      <dl>
        {words.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => setIsShown(false)}>
        Close
      </button>
    </div>
  );
}
