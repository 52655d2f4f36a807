import { countedNoun } from '../../base/text/text.js';
import { ok, unchecked, type Check } from '../check.js';
import type { DoctorContext } from '../context.js';
import { clearLocks, stateLeftovers, type StateLeftovers } from '../state-leftovers.js';

const SHOWN = 20;

/** What tasks and keepers left behind. */
export const leftovers: Check = {
  id: 'leftovers',
  category: 'state',
  limitMs: 20_000,
  look: async (context) => {
    const found = await read(context);
    if (found === undefined) return ok('No task has left anything behind');
    if (found === 'unusable') return unchecked('the state directory cannot be used.');
    const details = linesOf(found);
    if (details.length > 0) {
      return {
        status: 'warning',
        summary: 'Something was left behind in the state directory',
        details: [...details, ...worktreeLines(found, context)],
        remedy: {
          words: 'Every server ends and removes such things at its start; this does it now.',
          command: `${context.command} doctor --fix`,
        },
      };
    }
    const running = found.tasks.length === 0 ? '' : `; ${countedNoun(found.tasks.length, 'task')} not ended`;
    return ok(`No task has left anything behind${running}`, worktreeLines(found, context));
  },
  fix: async (context) => {
    const before = await read(context);
    if (before === undefined || before === 'unusable') return undefined;
    const wanted = linesOf(before);
    await context.sweep();
    const cleared = await clearLocks(await context.statePath());
    const after = await read(context);
    const left = new Set(after === undefined || after === 'unusable' ? [] : linesOf(after));
    const done = wanted.filter((line) => !left.has(line));
    return done.length + cleared === 0 ? undefined : `removed or ended: ${done.join('; ')}`;
  },
};

async function read(context: DoctorContext): Promise<StateLeftovers | 'unusable' | undefined> {
  try {
    return await stateLeftovers(await context.statePath());
  } catch (error) {
    if (error instanceof Error && /ENOTDIR|EACCES/.test(error.message)) return 'unusable';
    throw error;
  }
}

function linesOf({ abandoned, running, stuck, locks }: StateLeftovers): string[] {
  return [
    ...abandoned.map(({ task_id }) => `${task_id} has not ended, but its keeper is gone`),
    ...running.map(({ task_id }) => `${task_id} has ended, but processes of it still run`),
    ...stuck.map(
      ({ task_id, keeper }) => `${task_id} has ended, but its keeper (pid ${keeper?.pid}) still runs`,
    ),
    ...locks.map(
      ({ project_path, task_id }) => `${project_path} is locked by ${task_id}, whose process is gone`,
    ),
  ].slice(0, SHOWN);
}

/** Worktrees hold work, so they are named and never removed. */
function worktreeLines({ worktrees }: StateLeftovers, { command }: DoctorContext): string[] {
  return worktrees
    .slice(0, SHOWN)
    .map(
      ({ task_id, worktree }) =>
        `${worktree?.path ?? ''} holds the work of ${task_id}: ${command} tasks finish ${task_id} merge (or discard)`,
    );
}
