import { join } from 'node:path';
import { messageOf } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { heldChecks, type CheckWork } from '../../checks/allowed-checks.js';
import { linkFolders, matcher, runChecks } from '../../checks/check-runner.js';
import { hostLines, type RunLine } from '../../checks/run-command.js';
import { sandboxOf, sandboxRulesFile } from '../../checks/sandboxed-lines.js';
import { HOOK_TOKEN_VARIABLE } from '../../claude/hooks/hook-settings.js';
import type { RuleRow } from '../../approvals/modes.js';
import type { GitDoor } from '../../git/run/repository-git.js';
import { ignoredFolders, openWork } from '../../git/state/clean-copy.js';
import { ProjectSnapshots } from '../../git/state/project-snapshots.js';
import { checkMark } from '../../os/mark-variable.js';
import { sessionKeys } from '../../pty/child-env.js';
import { startTreeOf, treesOf } from '../../tasks/receipt/receipt-git.js';
import type { OpenTask } from './open-task.js';

/** Two readings of a repository of some size. */
const LOOK_LIMIT_MS = 20_000;

/** How the checks of a task run. `rules`: of the settings and of the project. */
export function taskChecks(
  task: OpenTask,
  door: () => Promise<GitDoor>,
  rules: readonly RuleRow[],
): CheckWork {
  const { spec, stateDir, agent } = task;
  const { checks = [], until_met: untilMet = 0, project_path: folder, worktree, task_id } = spec;
  return {
    ...{ checks, untilMet, ...heldChecks(spec, rules) },
    run: async (mayRun, signal, on) => {
      const project = projectIn(task, door, signal);
      const first = await project.tree();
      // What was installed in the project is in no worktree, and a container sees only the worktree.
      const isLinked = worktree !== undefined && agent.container === undefined && mayRun.length > 0;
      const { names, from } = (isLinked && (await project.ignored(worktree.path))) || { names: [], from: '' };
      const { linked, unlink } = await linkFolders(names, from, worktree?.path ?? folder);
      let before = first;
      const changed = async (): Promise<readonly string[]> => {
        const [from, to] = [before, (before = await project.tree())];
        const all = from === undefined || to === undefined ? [] : await project.changes(from, to);
        // The links are there since the first tree was read.
        return all.flatMap((one) => one.after ?? one.before ?? []).filter((path) => !linked.includes(path));
      };
      try {
        await agent.sandboxed?.beforeCommand();
        const run = await linesOf(task);
        const outputFolder = join(stateDir.taskDir(task_id), 'checks');
        await runChecks(mayRun, { run, folder, outputFolder, changed }, signal, on);
      } finally {
        await unlink();
      }
      // Of files of the checks themselves those that were there before.
      const base = worktree?.base_commit ?? (await startTreeOf(stateDir, task_id));
      const isTest = checks.map(({ tests }) => matcher(tests));
      const all = base === undefined || first === undefined ? [] : await project.changes(base, first);
      const own = all.flatMap(({ before }) =>
        before !== undefined && isTest.some((isOne) => isOne(before)) ? [before] : [],
      );
      return {
        tree: first,
        ...(linked.length > 0 && { linked }),
        ...(own.length > 0 && { own_files_changed: own }),
      };
    },
  };
}

/** Where the commands of the task run, with what these get, but for the keys of its session. */
async function linesOf({ agent, spec, mark: ofTask, owner, stateDir }: OpenTask): Promise<RunLine> {
  const { container, sandboxed } = agent;
  const { task_id, settings } = spec;
  const { CLAUDE_CODE_SHELL: wrapper = settings.shell, [HOOK_TOKEN_VARIABLE]: _token, ...env } = agent.env;
  const own = {
    mark: checkMark(ofTask),
    without: sessionKeys(env, settings.pass_environment),
    clock: systemClock,
  };
  if (container !== undefined) return container.linesOf(own);
  const file = sandboxRulesFile(stateDir.taskDir(task_id));
  return hostLines({
    ...own,
    // In the sandbox it has git exclude what is masked.
    shell: sandboxed === undefined ? settings.shell : wrapper,
    env,
    startedSince: owner.start_time ?? undefined,
    sandbox: sandboxed && (await sandboxOf(sandboxed.checks, file, env['PATH'])),
  });
}

/** What git says of the project, within 20 s; nothing where there is no repository, or it cannot be read. */
function projectIn({ spec, stateDir, logger }: OpenTask, door: () => Promise<GitDoor>, signal: AbortSignal) {
  const { project_path: folder, worktree } = spec;
  const objects = treesOf(stateDir, spec.task_id);
  const look = async <T>(read: (door: GitDoor, limited: AbortSignal) => Promise<T>): Promise<T | undefined> =>
    read(await door(), AbortSignal.any([signal, AbortSignal.timeout(LOOK_LIMIT_MS)])).catch(
      (error: unknown) => void logger.warn('the project could not be read', { error: messageOf(error) }),
    );
  return {
    /** Its files: in a worktree as the tree that is brought home, else stored beside the task. */
    tree: () =>
      look(async (opened, limited) => {
        const snapshots = new ProjectSnapshots(opened);
        if (worktree !== undefined) return snapshots.worktreeTree(worktree.path, limited);
        const seen = await snapshots.before(folder, limited, objects);
        return seen.state === 'repository' ? seen.tree : undefined;
      }),
    changes: async (base: string, end: string) =>
      (await look(async (opened, limited) =>
        (await openWork(opened, { folder, base, end, objects }, limited)).changes(),
      )) ?? [],
    ignored: (path: string) => look((opened, limited) => ignoredFolders(opened, path, limited)),
  };
}
