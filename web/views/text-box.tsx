import { useEffect, useRef, useState } from 'preact/hooks';
import type { TaskCard } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { openTaskPage } from './navigate.js';
import { useKeys } from './keys.js';
import { ErrorLine, useAction, Button } from './parts.js';

interface SendBoxProps {
  /** Under which its words stay while the page is open. */
  readonly place: string;
  readonly label: string;
  readonly hint: string;
  readonly button: string;
  /** Calls back when it was done. */
  readonly onSend: (text: string, done: () => void) => void;
  readonly action: Pick<ReturnType<typeof useAction>, 'error' | 'isBusy'>;
  /** Where the box is closed: by a button, and by Escape while it is empty. */
  readonly onCancel?: () => void;
}

/** A box for words, which Ctrl+Enter sends. */
export function SendBox({ place, label, hint, button, onSend, action, onCancel }: SendBoxProps) {
  const { text, set, sent } = useDraft(place);
  const input = useRef<HTMLTextAreaElement>(null);
  const focus = (): void => input.current?.focus();
  useKeys(onCancel === undefined ? { m: focus } : {});
  useEffect(() => (onCancel === undefined ? undefined : focus()), []);
  const isEmpty = text.trim() === '';
  const submit = (): void => {
    if (!isEmpty && !action.isBusy) onSend(text, () => sent(text));
  };
  const cancel = (): void => {
    set('');
    onCancel?.();
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
        placeholder={hint}
        aria-label={label}
        value={text}
        onInput={(event) => set(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
          if (event.key !== 'Escape') return;
          if (onCancel === undefined) event.currentTarget.blur();
          else if (text === '') cancel();
        }}
      />
      <button type="submit" disabled={isEmpty || action.isBusy}>
        {button}
      </button>
      {onCancel !== undefined && (
        <Button look="plain" act={cancel}>
          Cancel
        </Button>
      )}
      <ErrorLine error={action.error} />
    </form>
  );
}

interface NextBoxProps {
  readonly store: Store;
  readonly task: TaskCard;
}

/** What a person says to a session that runs, or what comes next where it has ended: another task goes on from it, or begins without its session. */
export function NextBox({ store, task: { task_id, is_final, can_continue } }: NextBoxProps) {
  const { send, ...action } = useAction(store);
  const [label, button] = !is_final
    ? ['Message to the session', 'Send']
    : can_continue
      ? ['Continue this task', 'Continue']
      : ['Start another task in this project', 'Start'];
  return (
    <SendBox
      place={`${is_final ? 'continue' : 'message'} ${task_id}`}
      {...{ label, button, action }}
      hint={`${label} (Ctrl+Enter sends)`}
      onSend={(text, done) =>
        send({ type: is_final ? 'task.continue' : 'task.message', task_id, text }, (answer) => {
          done();
          if (answer.task_id !== undefined) openTaskPage(answer.task_id);
        })
      }
    />
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
