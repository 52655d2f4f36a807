import { join } from 'node:path';
import { messageOf } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { runChecks, testFiles, type ProjectTrees } from '../../checks/check-runner.js';
import { allowedChecks } from '../../checks/allowed-checks.js';
import type { Check } from '../../checks/brief.js';
import { HOOK_TOKEN_VARIABLE } from '../../claude/hooks/hook-settings.js';
import type { RuleRow } from '../../approvals/modes.js';
import { checkMark, MARK_VARIABLE } from '../../os/mark-variable.js';
import { sessionKeys } from '../../pty/child-env.js';
import { startTreeOf, treesOf } from '../../tasks/receipt/receipt-git.js';
import type { CheckWork } from '../../checks/allowed-checks.js';
import type { ProjectSnapshots } from '../../git/state/project-snapshots.js';
import type { OpenTask } from './open-task.js';

/** Two readings of a repository of some size. */
const LOOK_LIMIT_MS = 20_000;
/** How the checks of a task run; undefined for a task without any. */
export function taskChecks(
  task: OpenTask,
  snapshots: () => Promise<ProjectSnapshots>,
  rules: readonly RuleRow[],
): CheckWork | undefined {
  const { spec, mark, owner, stateDir } = task;
  const { checks = [], until_met: untilMet = 0, settings } = spec;
  if (checks.length === 0) return undefined;
  const trees = treesIn(task, snapshots);
  const options = {
    shell: settings.shell,
    folder: spec.project_path,
    env: checkEnvironment(task),
    mark: checkMark(mark),
    startedSince: owner.start_time ?? undefined,
    outputFolder: join(stateDir.taskDir(spec.task_id), 'checks'),
    trees,
    clock: systemClock,
  };
  return {
    checks,
    untilMet,
    mayRun: allowedChecks(spec, [], rules),
    run: async (mayRun, signal, onBegin, onEnd) => {
      const { results, tree } = await runChecks(mayRun, options, signal, { onBegin, onEnd });
      const own = tree === undefined ? [] : await ownFilesChanged(task, checks, trees, tree, signal);
      return { results: [...results], tree, ...(own.length > 0 && { own_files_changed: own }) };
    },
  };
}

/** What an agent's commands get, without the keys of its session. */
function checkEnvironment({ agent, spec, mark }: OpenTask): Record<string, string> {
  const { env } = agent;
  const keys = new Set([
    HOOK_TOKEN_VARIABLE,
    'CLAUDE_CODE_SHELL',
    ...sessionKeys(env, spec.settings.pass_environment),
  ]);
  const kept = Object.entries(env).filter(([name]) => !keys.has(name));
  return { ...Object.fromEntries(kept), [MARK_VARIABLE]: checkMark(mark) };
}

/** The files of the project as trees that are kept beside the task; without a repository nothing is known of them. */
function treesIn(task: OpenTask, snapshots: () => Promise<ProjectSnapshots>): ProjectTrees {
  const { spec, stateDir, logger } = task;
  const objects = treesOf(stateDir, spec.task_id);
  const limited = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(LOOK_LIMIT_MS)]);
  const orNot = async <T>(look: Promise<T>): Promise<T | undefined> =>
    look.catch(
      (error: unknown) => void logger.warn('the project could not be read', { error: messageOf(error) }),
    );
  return {
    now: async (signal) => {
      const seen = await orNot((await snapshots()).before(spec.project_path, limited(signal), objects));
      return seen?.state === 'repository' ? seen.tree : undefined;
    },
    changed: async (from, to, signal, isOld = false) =>
      (await orNot(
        (await snapshots()).between(spec.project_path, { from, to, objects, isOld }, limited(signal)),
      )) ?? [],
  };
}

/** The files of the checks themselves that the task changed or removed, by their `tests`. */
async function ownFilesChanged(
  { spec, stateDir }: OpenTask,
  checks: readonly Check[],
  trees: ProjectTrees,
  tree: string,
  signal: AbortSignal,
): Promise<string[]> {
  const from = spec.worktree?.base_commit ?? (await startTreeOf(stateDir, spec.task_id));
  if (from === undefined || checks.every(({ tests }) => tests === undefined)) return [];
  const changed = await trees.changed(from, tree, signal, true);
  return [...new Set(checks.flatMap((check) => testFiles(check, changed)))];
}
