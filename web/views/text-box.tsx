import { useEffect, useRef, useState } from 'preact/hooks';
import type { TaskCard } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { openTaskPage } from './navigate.js';
import { onKey } from './keys.js';
import { ErrorLine, useAction } from './parts.js';

interface BoxProps {
  readonly store: Store;
  readonly task: TaskCard;
}

/** What a person says to a session that runs, or what comes next where it has ended: another task goes on from it, or begins without its session. */
export function NextBox({ store, task: { task_id, is_final, can_continue } }: BoxProps) {
  const place = `${is_final ? 'continue' : 'message'} ${task_id}`;
  const label = !is_final
    ? 'Message to the session'
    : can_continue
      ? 'Continue this task'
      : 'Start another task in this project';
  const button = !is_final ? 'Send' : can_continue ? 'Continue' : 'Start';
  const { text, set, sent } = useDraft(place);
  const { send, error, isBusy } = useAction(store);
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => onKey('m', () => input.current?.focus()), []);
  const isEmpty = text.trim() === '';
  const submit = (): void => {
    if (isEmpty || isBusy) return;
    send({ type: is_final ? 'task.continue' : 'task.message', task_id, text }, (answer) => {
      sent(text);
      if (answer.task_id !== undefined) openTaskPage(answer.task_id);
    });
  };
  return (
    <form
      class="message"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        ref={input}
        dir="auto"
        rows={2}
        placeholder={`${label} (Ctrl+Enter sends)`}
        aria-label={label}
        value={text}
        onInput={(event) => set(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <button type="submit" disabled={isEmpty || isBusy}>
        {button}
      </button>
      <ErrorLine error={error} />
    </form>
  );
}

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
