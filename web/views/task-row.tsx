import { openOf, type BoardState, type DecisionView, type TaskCard } from '../../src/board/state.js';
import { textIn } from '../text/fields.js';
import { homeOf, sameProject, unverifiable } from '../text/machines.js';
import { age, endWords, shortPath, statusLook, titleOf, visible } from '../text/words.js';
import { Place } from './parts.js';

interface RowProps {
  readonly board: BoardState;
  readonly task: TaskCard;
  readonly isSelected: boolean;
  readonly home: string;
  readonly nowMs: number;
}

/** A task in the list: how it stands, what it is for, and what it asks, does or has done. */
export function TaskRow({ board, task, isSelected, home, nowMs }: RowProps) {
  const asked = openOf(board.decisions, task.task_id)[0];
  const cut = unverifiable(task, board);
  return (
    <li>
      <a
        class={isSelected ? 'row selected' : 'row'}
        href={`#/${task.task_id}`}
        aria-current={isSelected ? 'page' : undefined}
      >
        <span class={`dot ${cut === undefined ? statusLook(task, asked !== undefined) : 'idle'}`}>
          <span class="sr">{cut === undefined ? task.status : 'unverifiable'}</span>
        </span>
        <span class="prompt" dir="auto">
          {titleOf(task)}
        </span>
        <time dateTime={task.ended_at ?? task.started_at ?? task.created_at}>{age(task, nowMs)}</time>
        <span class="row-facts" title={shortPath(task.project_path, homeOf(task, board, home))}>
          <Place task={task} />
          {(cut === undefined ? factsOf(board, task, asked) : [cut]).map((fact, at) => (
            <span key={at}> · {fact}</span>
          ))}
        </span>
      </a>
    </li>
  );
}

function factsOf(board: BoardState, task: TaskCard, asked: DecisionView | undefined) {
  const { status, reason, activity, files_changed: files } = task;
  if (asked !== undefined && !task.is_final) return [askedWords(asked)];
  if (status === 'pending') return [beforeWords(board, task) ?? visible(reason)];
  if (!task.is_final) {
    const words = task.is_held_up ? reason : task.is_ready ? plainly(task.last_words) : activity;
    return [<strong dir="auto">{visible(words)}</strong>];
  }
  const { checks_met: met, unmet } = task;
  const checks = met === '' ? [] : [<span class={unmet === null ? 'ok' : 'bad'}>{met}</span>];
  const work = files === 0 ? [] : [`${files} ${files === 1 ? 'file' : 'files'}`];
  const branch = task.branch === null ? [] : [visible(branchWords(task.branch, task))];
  const isBad = statusLook(task, false) === 'failed';
  if (status !== 'completed')
    return [<span class={isBad ? 'bad' : ''}>{visible(reason)}</span>, ...work, ...branch];
  return [
    ...checks,
    ...work,
    ...branch,
    ...(task.last_words === '' ? [] : [visible(plainly(task.last_words))]),
  ];
}

function askedWords({ kind, input, questions, summary }: DecisionView) {
  const plan = textIn(input, 'plan').replace(/^#+ /, '');
  const words = questions[0]?.question ?? (textIn(input, 'command') || plan || summary);
  return (
    <>
      {kind === 'question' || kind === 'plan' ? kind : 'asks'}: <strong dir="auto">{visible(words)}</strong>
    </>
  );
}

/** Words of Claude without the marks of Markdown around them. */
function plainly(words: string): string {
  return words.replaceAll(/`+|\*\*/g, '');
}

/** What a queued task waits for: the task before it in its project; undefined where that is not known. */
export function beforeWords(board: BoardState, queued: TaskCard) {
  const { queue_position: place } = queued;
  if (place === null) return undefined;
  const previous = Object.values(board.tasks).find(
    (task) =>
      sameProject(task, queued) &&
      !task.is_final &&
      (place === 1 ? task.status !== 'pending' && task.branch === null : task.queue_position === place - 1),
  );
  if (previous === undefined) return undefined;
  return <>Starts after “{titleOf(previous)}”</>;
}

/** The branch, and what became of it. */
function branchWords(branch: string, { worktree_end: end }: TaskCard): string {
  if (end === null) return `to merge or discard: ${branch}`;
  return end.result === '' ? `had no work: ${branch}` : `${endWords[end.action]}: ${branch}`;
}
