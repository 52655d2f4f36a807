import { useState } from 'preact/hooks';
import { openOf, type TaskCard, type TaskState } from '../../src/board/state.js';
import type { Store } from '../store.js';
import { age, driverWords, isNative, projectWords, span, visible } from '../text/words.js';
import { WorktreeActions } from './worktree.js';
import { openTaskPage } from './navigate.js';
import { ErrorLine, useAction, useFocus, useNow } from './parts.js';

interface HeadProps {
  readonly store: Store;
  readonly task: TaskCard;
  readonly state: TaskState;
}

/** What a task is, how it stands, and what a person can do to it. */
export function TaskHead({ store, task, state }: HeadProps) {
  const nowMs = useNow(1_000);
  return (
    <header class="task-head">
      <BackLink />
      <h2 dir="auto">{visible(task.prompt_summary)}</h2>
      <p class="facts">
        <span class={`status ${task.status}`}>{task.status}</span>{' '}
        <span dir="auto">{visible(task.reason === '' ? task.activity : task.reason)}</span>
      </p>
      <p class="facts quiet">
        <span>{visible(projectWords(task.project_path, store.home.value))}</span>
        <span>
          {task.is_final ? `took ${span(task.elapsed_seconds)}, ${age(task, nowMs)}` : age(task, nowMs)}
        </span>
        {task.model !== null && <span>{visible(task.model)}</span>}
        <span>{driverWords(task.driver)}</span>
        {!isNative(task) && <span>{task.permission_mode}</span>}
        {task.turns > 0 && (
          <span>
            {task.turns} {task.turns === 1 ? 'turn' : 'turns'}
          </span>
        )}
        {task.branch !== null && <span>{visible(task.branch)}</span>}
        {task.queue_position !== null && <span>place {task.queue_position} in the queue</span>}
        <code>{task.task_id}</code>
      </p>
      {!isNative(task) && <TaskActions store={store} task={task} state={state} />}
      <WorktreeActions store={store} task={task} state={state} />
    </header>
  );
}

function TaskActions({ store, task, state }: HeadProps) {
  const [isEnding, setIsEnding] = useState(false);
  const { send, error } = useAction(store);
  const { task_id } = task;
  if (task.is_final) return null;
  // Where nothing runs there is nothing to interrupt.
  const isAtWork = task.status !== 'pending' && (!task.is_ready || openOf(state.decisions).length > 0);
  return (
    <div class="actions">
      {isAtWork && (
        <button type="button" onClick={() => send({ type: 'task.interrupt', task_id })}>
          Interrupt
        </button>
      )}
      {isEnding ? (
        <KillForm
          onKill={(reason) => send({ type: 'task.kill', task_id, reason })}
          onKeep={() => setIsEnding(false)}
        />
      ) : (
        <button type="button" class="deny" onClick={() => setIsEnding(true)}>
          Kill…
        </button>
      )}
      <ErrorLine error={error} />
    </div>
  );
}

interface KillProps {
  readonly onKill: (reason: string) => void;
  readonly onKeep: () => void;
}

function KillForm({ onKill, onKeep }: KillProps) {
  const [reason, setReason] = useState('');
  const field = useFocus<HTMLInputElement>();
  return (
    <form
      class="ending"
      onSubmit={(event) => {
        event.preventDefault();
        onKill(reason);
      }}
    >
      <input
        type="text"
        dir="auto"
        ref={field}
        placeholder="Why? (for its record)"
        aria-label="Why the task is killed"
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <button type="submit" class="deny">
        Kill it
      </button>
      <button type="button" onClick={onKeep}>
        Keep it
      </button>
    </form>
  );
}

export function BackLink() {
  return (
    <button type="button" class="back" onClick={() => openTaskPage(undefined)}>
      ← All tasks
    </button>
  );
}
