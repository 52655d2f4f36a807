/** The list of keys. */
const words: readonly (readonly [string, string])[] = [
  ['j k', 'next task, task before'],
  ['Esc', 'back to all tasks'],
  ['/', 'search'],
  ['y s n', 'inside a question: allow it once, for the session, deny it'],
  ['1 … 7', 'timeline, changes, terminal, replay, log, receipt, prompt'],
  ['Space', 'play or pause a replay'],
  ['Shift+Tab', 'leave the terminal'],
  ['m', 'write a message, or go on with a task'],
  ['?', 'these keys'],
];

export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
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
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}
