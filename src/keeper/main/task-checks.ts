import { join } from 'node:path';
import { messageOf } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { linkFolders, matching, runChecks, type ProjectTrees } from '../../checks/check-runner.js';
import { allowedChecks, type CheckWork } from '../../checks/allowed-checks.js';
import { hostLines, type RunLine } from '../../checks/run-command.js';
import { sandboxOf, sandboxRulesFile } from '../../checks/sandboxed-lines.js';
import { HOOK_TOKEN_VARIABLE } from '../../claude/hooks/hook-settings.js';
import type { RuleRow } from '../../approvals/modes.js';
import { checkMark, MARK_VARIABLE } from '../../os/mark-variable.js';
import { sessionKeys } from '../../pty/child-env.js';
import { startTreeOf, treesOf } from '../../tasks/receipt/receipt-git.js';
import type { GitDoor } from '../../git/run/repository-git.js';
import type { ChangedName } from '../../git/state/clean-copy.js';
import type { OpenTask } from './open-task.js';

/** Two readings of a repository of some size. */
const LOOK_LIMIT_MS = 20_000;

/** How the checks of a task run; undefined for a task without any. */
export function taskChecks(
  task: OpenTask,
  door: () => Promise<GitDoor>,
  rules: readonly RuleRow[],
): CheckWork | undefined {
  const { spec, stateDir, agent } = task;
  const { checks = [], until_met: untilMet = 0, project_path: folder, worktree } = spec;
  if (checks.length === 0) return undefined;
  const project = projectIn(task, door);
  const outputFolder = join(stateDir.taskDir(spec.task_id), 'checks');
  return {
    checks,
    untilMet,
    mayRun: allowedChecks(spec, [], rules),
    run: async (mayRun, signal, on) => {
      // What was installed there is in no worktree, and a container sees only the worktree.
      const isLinked = worktree !== undefined && agent.container === undefined && mayRun.length > 0;
      const tree = await project.trees.now(signal);
      const { linked, unlink } = isLinked
        ? await project.link(worktree.path, signal)
        : { linked: [], unlink: () => Promise.resolve() };
      try {
        await agent.sandboxed?.beforeCommand();
        const run = await linesOf(task);
        const results = await runChecks(
          mayRun,
          { run, folder, outputFolder, trees: project.trees },
          signal,
          on,
        );
        const own = tree === undefined ? [] : await ownFilesChanged(task, project, tree, signal);
        return {
          ...{ results, tree },
          ...(linked.length > 0 && { linked }),
          ...(own.length > 0 && { own_files_changed: own }),
        };
      } finally {
        await unlink();
      }
    },
  };
}

/** Where the commands of the task run, with what these get, but for the keys of its session. */
async function linesOf({ agent, spec, mark: ofTask, owner, stateDir }: OpenTask): Promise<RunLine> {
  const { env, container, sandboxed } = agent;
  const mark = checkMark(ofTask);
  const { CLAUDE_CODE_SHELL: wrapper, [HOOK_TOKEN_VARIABLE]: _token, ...others } = env;
  const keys = sessionKeys(others, spec.settings.pass_environment);
  if (container !== undefined) return container.linesOf({ mark, without: keys });
  const kept = Object.fromEntries(Object.entries(others).filter(([name]) => !keys.includes(name)));
  const file = sandboxRulesFile(stateDir.taskDir(spec.task_id));
  return hostLines({
    // In the sandbox it has git exclude what is masked.
    shell: sandboxed === undefined ? spec.settings.shell : (wrapper ?? spec.settings.shell),
    env: { ...kept, [MARK_VARIABLE]: mark },
    mark,
    startedSince: owner.start_time ?? undefined,
    clock: systemClock,
    sandbox: sandboxed && (await sandboxOf(sandboxed.checks, file, env['PATH'])),
  });
}

/** The files of the project: in a worktree as the tree that is brought home, else kept beside the task. Without a repository nothing is known of them. */
function projectIn({ spec, stateDir, logger }: OpenTask, door: () => Promise<GitDoor>) {
  const { project_path: path, worktree } = spec;
  const objects = treesOf(stateDir, spec.task_id);
  const look = async <T>(
    signal: AbortSignal,
    read: (door: GitDoor, limited: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> =>
    read(await door(), AbortSignal.any([signal, AbortSignal.timeout(LOOK_LIMIT_MS)])).catch(
      (error: unknown) => void logger.warn('the project could not be read', { error: messageOf(error) }),
    );
  const changed = (
    from: string,
    to: string,
    signal: AbortSignal,
  ): Promise<readonly ChangedName[] | undefined> =>
    look(signal, async (opened, limited) => {
      const { openWork, changesIn } = await import('../../git/state/clean-copy.js');
      const { findRepository } = await import('../../git/run/repository.js');
      const { top, within } = await findRepository(opened.roots, await opened.roots.resolve(path));
      const work = await openWork(opened, { repository: top, base: from, end: to, objects }, limited);
      return changesIn(await work.changed(), within);
    });
  const trees: ProjectTrees = {
    now: (signal) =>
      look(signal, async (opened, limited) => {
        const { ProjectSnapshots } = await import('../../git/state/project-snapshots.js');
        const snapshots = new ProjectSnapshots(opened);
        if (worktree !== undefined) return snapshots.worktreeTree(worktree.path, limited);
        const seen = await snapshots.before(path, limited, objects);
        return seen.state === 'repository' ? seen.tree : undefined;
      }),
    changed: async (from, to, signal) => ((await changed(from, to, signal)) ?? []).map((one) => one.path),
  };
  return {
    trees,
    changed,
    /** Links what was installed in the project into its worktree. */
    link: async (to: string, signal: AbortSignal) => {
      const { ignoredFolders } = await import('../../git/state/clean-copy.js');
      const found = await look(signal, (opened, limited) => ignoredFolders(opened, to, limited));
      return linkFolders(found?.names ?? [], found?.from ?? to, to);
    },
  };
}

/** The files of the checks themselves that the task changed, moved or removed, by their `tests`. */
async function ownFilesChanged(
  { spec, stateDir }: OpenTask,
  { changed }: ReturnType<typeof projectIn>,
  tree: string,
  signal: AbortSignal,
): Promise<string[]> {
  const patterns = (spec.checks ?? []).map(({ tests = [] }) => tests);
  const from = spec.worktree?.base_commit ?? (await startTreeOf(stateDir, spec.task_id));
  if (from === undefined || patterns.every((tests) => tests.length === 0)) return [];
  const all = (await changed(from, tree, signal)) ?? [];
  const old = all.flatMap((one) => (one.change === 'new' ? [] : (one.from ?? one.path)));
  return [...new Set(patterns.flatMap((tests) => matching(tests, old)))];
}
