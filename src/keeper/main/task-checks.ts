import { join, relative } from 'node:path';
import { messageOf } from '../../base/errors.js';
import { heldChecks, type CheckWork } from '../../checks/allowed-checks.js';
import { linkFolders, runCheck, testMatcher } from '../../checks/check-runner.js';
import { hostLines, type StartLine } from '../../checks/run-command.js';
import { sandboxOf, sandboxRulesFile } from '../../checks/sandboxed-lines.js';
import { HOOK_TOKEN_VARIABLE } from '../../claude/hooks/hook-settings.js';
import type { RuleRow } from '../../approvals/modes.js';
import type { GitDoor } from '../../git/run/repository-git.js';
import { ignoredFolders, openWork, type Change } from '../../git/state/clean-copy.js';
import { ProjectSnapshots } from '../../git/state/project-snapshots.js';
import { checkMark } from '../../os/mark-variable.js';
import { sessionKeys } from '../../pty/child-env.js';
import { startTreeOf, treesOf } from '../../tasks/receipt/receipt-git.js';
import type { OpenTask } from './open-task.js';

/** Two readings of a repository of some size. */
const LOOK_LIMIT_MS = 20_000;
/** Files that are named. */
const MAX_FILES = 50;

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
    run: async (mayRun, signal, { onBegin, onEnd }) => {
      const project = projectIn(task, door, signal);
      const first = await project.tree();
      // What was installed in the project is in no worktree, and a container sees only the worktree.
      const isLinked = worktree !== undefined && agent.container === undefined && mayRun.length > 0;
      const { names, from } = (isLinked && (await project.ignored(worktree.path))) || { names: [], from: '' };
      const root = worktree?.path ?? folder;
      const { linked, unlink } = await linkFolders(names, from, root);
      // They are there since the first tree was read.
      const links = linked.map((name) => relative(folder, join(root, name)));
      let before = first;
      const changed = async (): Promise<readonly string[]> => {
        const [old, now] = [before, (before = await project.tree())];
        const paths = (await project.changes(old, now)).map((one) => one.after ?? one.before ?? '');
        return paths.filter((path) => !links.includes(path)).slice(0, MAX_FILES);
      };
      try {
        await agent.sandboxed?.beforeCommand();
        const outputFolder = join(stateDir.taskDir(task_id), 'checks');
        const place = { start: await linesOf(task), folder, outputFolder };
        for (const [at, check] of mayRun.entries()) {
          onBegin(check);
          const result = await runCheck(check, place, `${at + 1}.txt`, signal);
          const left = result.verdict === 'not run' ? [] : await changed();
          onEnd(left.length > 0 ? { ...result, left_changed: [...left] } : result);
        }
      } finally {
        await unlink();
      }
      // Of files of the checks themselves those that were there before.
      const base = worktree?.base_commit ?? (await startTreeOf(stateDir, task_id));
      const own = (await project.changes(base, first))
        .map(({ before: old = '' }) => old)
        .filter(testMatcher(checks));
      return {
        tree: first,
        ...(linked.length > 0 && { linked }),
        ...(own.length > 0 && { own_files_changed: own }),
      };
    },
  };
}

/** Where the commands of the task run, with what these get, but for the keys of its session. */
async function linesOf({ agent, spec, mark: ofTask, owner, stateDir }: OpenTask): Promise<StartLine> {
  const { container, sandboxed } = agent;
  const { task_id, settings } = spec;
  const { CLAUDE_CODE_SHELL: wrapper = settings.shell, [HOOK_TOKEN_VARIABLE]: _token, ...env } = agent.env;
  const mark = checkMark(ofTask);
  const { pass_environment: passed } = settings;
  if (container !== undefined) return container.linesOf(mark, sessionKeys(env, passed));
  const file = sandboxRulesFile(stateDir.taskDir(task_id));
  return hostLines({
    // In the sandbox it has git exclude what is masked.
    shell: sandboxed === undefined ? settings.shell : wrapper,
    ...{ env, passed, mark, startedSince: owner.start_time ?? undefined },
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
    /** None where one of the trees is not known. */
    changes: async (base: string | undefined, end: string | undefined): Promise<readonly Change[]> => {
      if (base === undefined || end === undefined || base === end) return [];
      const query = { folder, base, end, objects };
      const found = look(async (opened, limited) => (await openWork(opened, query, limited)).changes());
      return (await found) ?? [];
    },
    ignored: (path: string) => look((opened, limited) => ignoredFolders(opened, path, limited)),
  };
}
