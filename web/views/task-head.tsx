import { useState } from 'preact/hooks';
import { openOf } from '../../src/board/state.js';
import { homeOf, unverifiable } from '../text/machines.js';
import {
  age,
  driverWords,
  isNative,
  shortPath,
  span,
  statusLook,
  statusWords,
  titleOf,
  visible,
} from '../text/words.js';
import { openTaskPage } from './navigate.js';
import { ErrorLine, Place, Prose, useAction, useFocus, useNow, Button } from './parts.js';
import type { TaskProps } from './surface.js';
import { beforeWords } from './task-row.js';
import { WorktreeActions } from './worktree.js';

interface HeadProps extends TaskProps {
  readonly onTerminal: () => void;
}

/** What a task is, how it stands, and what a person can do to it. */
export function TaskHead({ store, task, state, onTerminal }: HeadProps) {
  const isAsked = openOf(state.decisions).length > 0 && !task.is_final;
  const cut = unverifiable(task, store.board.value);
  const look = cut === undefined ? statusLook(task, isAsked) : 'idle';
  const before = store.board.value && beforeWords(store.board.value, task);
  return (
    <header class="task-head">
      <BackLink />
      <h2 dir="auto">{titleOf(task)}</h2>
      {!isNative(task) && !task.is_final && <TaskActions {...{ store, task, state, onTerminal }} />}
      <Facts {...{ store, task, look, cut }} />
      {cut !== undefined ? (
        <p>What is shown is from before; what runs there runs on.</p>
      ) : look === 'runs' ? (
        <div class="life">
          <span class="dot runs" />
          <div>
            <p dir="auto">{visible(task.activity)}</p>
            {task.last_words !== '' && (
              <p class="quiet" dir="auto">
                {visible(task.last_words)}
              </p>
            )}
          </div>
        </div>
      ) : (
        // What is asked says the same in full, and so does the word for what went well.
        !isAsked &&
        task.status !== 'completed' && (
          <p dir="auto">{before ?? <Prose text={task.reason || task.activity} />}</p>
        )
      )}
      <WorktreeActions {...{ store, task, state }} />
    </header>
  );
}

interface FactsProps extends Pick<HeadProps, 'store' | 'task'> {
  readonly look: string;
  /** Since when it is out of reach. */
  readonly cut: string | undefined;
}

function Facts({ store, task, look, cut }: FactsProps) {
  const home = homeOf(task, store.board.value, store.home.value);
  const nowMs = useNow(1_000);
  const time = task.is_final ? `took ${span(task.elapsed_seconds)}` : age(task, nowMs);
  return (
    <p class="facts">
      <span class={`pill ${look}`}>{cut ?? statusWords(task, look)}</span>
      <span title={shortPath(task.project_path, home)}>
        <Place task={task} />
      </span>
      {isNative(task) ? <span>{driverWords(task.driver)}</span> : <span>{task.permission_mode}</span>}
      {task.model !== null && <span>{visible(task.model)}</span>}
      <span>{[time, task.used].filter((one) => one !== '').join(' · ')}</span>
      {task.checks_met !== '' && <span class={task.unmet === null ? 'ok' : 'bad'}>{task.checks_met}</span>}
      {task.branch !== null && <span class="path">{visible(task.branch)}</span>}
      <Button look="id" title="Copy the id" act={() => void navigator.clipboard.writeText(task.task_id)}>
        {task.task_id}
      </Button>
    </p>
  );
}

function TaskActions({ store, task, state, onTerminal }: HeadProps) {
  const [isEnding, setIsEnding] = useState(false);
  const { send, error } = useAction(store);
  const { task_id } = task;
  // Where nothing runs there is nothing to interrupt.
  const isAtWork = task.status !== 'pending' && (!task.is_ready || openOf(state.decisions).length > 0);
  return (
    <div class="actions">
      {isEnding ? (
        <KillForm
          onKill={(reason) => send({ type: 'task.kill', task_id, reason })}
          onKeep={() => setIsEnding(false)}
        />
      ) : (
        <>
          {task.status !== 'pending' && task.driver === 'interactive' && (
            <Button act={onTerminal}>Open terminal</Button>
          )}
          {isAtWork && (
            <Button look="plain" act={() => send({ type: 'task.interrupt', task_id })}>
              Interrupt
            </Button>
          )}
          <Button look="plain deny" act={() => setIsEnding(true)}>
            Kill…
          </Button>
        </>
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
  const field = useFocus<HTMLInputElement>();
  return (
    <form
      class="ending"
      onSubmit={(event) => {
        event.preventDefault();
        onKill(field.current?.value ?? '');
      }}
    >
      <input
        type="text"
        dir="auto"
        ref={field}
        placeholder="Why? (for its record)"
        aria-label="Why the task is killed"
      />
      <button type="submit" class="deny">
        Kill it
      </button>
      <Button act={onKeep}>Keep it</Button>
    </form>
  );
}

/** Back to all tasks. */
export function BackLink() {
  return (
    <Button look="plain back" act={() => openTaskPage(undefined)}>
      ← All tasks
    </Button>
  );
}
