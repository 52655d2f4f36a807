import { describe, expect, it } from 'vitest';
import { followTask, type TaskView } from '../../src/cli/demo/follow-task.js';

const decision = {
  decision_id: 'dec_1',
  kind: 'permission',
  tool: 'Bash',
  summary: 'Bash(make)',
  options: [],
};

function view(status: string, extra: Record<string, unknown> = {}) {
  return { task_id: 'task_1', status, elapsed_seconds: 1, activity: '', decisions: [], ...extra };
}

/** A server that answers `wait_for_task` with these views, one a call. */
function serverOf(views: readonly unknown[]) {
  const calls: [string, Readonly<Record<string, unknown>>][] = [];
  let next = 0;
  const call = async (tool: string, args: Readonly<Record<string, unknown>>): Promise<unknown> => {
    calls.push([tool, args]);
    return tool === 'wait_for_task' ? { tasks: [views[next]], cursor: `c${next++}` } : {};
  };
  return { call, calls };
}

async function follow(views: readonly unknown[], signal?: AbortSignal) {
  const { call, calls } = serverOf(views);
  const changes: TaskView[] = [];
  const follower = {
    onChange: (task: TaskView) => changes.push(task),
    decide: async () => ({ verdict: 'deny', message: 'No.' }) as const,
  };
  const end = await followTask(call, 'task_1', follower, signal);
  return { end, calls, changes };
}

describe('followTask', () => {
  it('waits from cursor to cursor until the task has ended', async () => {
    const { end, calls } = await follow([
      view('starting'),
      view('running'),
      view('completed', { exit_code: 0 }),
    ]);
    expect(end).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(calls.map(([tool, args]) => [tool, args['cursor']])).toEqual([
      ['wait_for_task', undefined],
      ['wait_for_task', 'c0'],
      ['wait_for_task', 'c1'],
    ]);
  });

  it('answers each decision once, also when it is still shown', async () => {
    const waiting = view('waiting', { decisions: [decision] });
    const { calls } = await follow([waiting, waiting, view('failed')]);
    expect(calls.filter(([tool]) => tool === 'respond_to_task')).toEqual([
      ['respond_to_task', { task_id: 'task_1', decision_id: 'dec_1', verdict: 'deny', message: 'No.' }],
    ]);
  });

  it('tells a change of status or activity, not every reply', async () => {
    const busy = view('running', { activity: 'Bash(make)' });
    const { changes } = await follow([view('running'), view('running'), busy, busy, view('killed')]);
    expect(changes.map((task) => task.status)).toEqual(['running', 'running', 'killed']);
  });

  it('stops when it is aborted', async () => {
    await expect(follow([view('running')], AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});
