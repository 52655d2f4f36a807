import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActionAnswer, ClientAction } from '../../src/board/protocol.js';
import type { TaskCard } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { openTaskPage } from './navigate.js';
import { onKey } from './keys.js';
import { ErrorLine, useAction } from './parts.js';

interface BoxProps {
  readonly store: Store;
  readonly taskId: string;
}

/** What a person says to a session that runs. */
export function MessageBox({ store, taskId }: BoxProps) {
  return (
    <TextBox
      store={store}
      place={`message ${taskId}`}
      label="Message to the session"
      button="Send"
      actionOf={(text) => ({ type: 'task.message', task_id: taskId, text })}
    />
  );
}

/** What comes next where a task has ended: another one goes on from it, or begins anew where that is not possible. */
export function ContinueBox({
  store,
  task: { task_id, can_continue },
}: {
  readonly store: Store;
  readonly task: TaskCard;
}) {
  return (
    <TextBox
      store={store}
      place={`continue ${task_id}`}
      label={can_continue ? 'Go on with this task' : 'Start another task in this project'}
      button={can_continue ? 'Go on' : 'Start'}
      actionOf={(text) => ({ type: 'task.continue', task_id, text })}
      onDone={({ task_id }) => openTaskPage(task_id)}
    />
  );
}

interface TextBoxProps {
  readonly store: Store;
  /** Where what is typed and not sent is kept. */
  readonly place: string;
  readonly label: string;
  readonly button: string;
  readonly actionOf: (text: string) => ClientAction;
  readonly onDone?: (answer: ActionAnswer) => void;
}

function TextBox({ store, place, label, button, actionOf, onDone }: TextBoxProps) {
  const { text, set, sent } = useDraft(place);
  const { send, error, isBusy } = useAction(store);
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => onKey('m', () => input.current?.focus()), []);
  const isEmpty = text.trim() === '';
  const submit = (): void => {
    if (isEmpty || isBusy) return;
    send(actionOf(text), (answer) => {
      sent(text);
      onDone?.(answer);
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
