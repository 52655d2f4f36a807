import { ok, unchecked, type Check } from '../check.js';
import { systemCommands } from '../system-commands.js';

/** From here on work in a worktree merges without touching files (`git merge-tree --write-tree`). */
const BEST: readonly [number, number] = [2, 38];

export const git: Check = {
  id: 'git',
  category: 'system',
  look: async ({ run, platform }) => {
    const answer = await run('git', ['--version']);
    const install = { command: systemCommands(platform).install('git') };
    if (answer.how === 'missing') {
      return {
        status: 'warning',
        summary:
          'git was not found: tasks run, but their receipts show no changes, and worktrees do not work',
        remedy: { words: 'Install git.', ...install },
      };
    }
    if (answer.how === 'failed') return unchecked(`git --version: ${answer.why}`);
    const version = /git version (\d+)\.(\d+)[\w.]*/.exec(answer.stdout);
    if (answer.code !== 0 || version === null) {
      return {
        status: 'warning',
        summary: `git does not work: ${(answer.stderr || answer.stdout).trim().split('\n', 1)[0] ?? ''}`,
        remedy: { words: 'Install git again, or repair what stands before it on PATH.', ...install },
      };
    }
    const [text, major, minor] = version;
    const isOld = Number(major) < BEST[0] || (Number(major) === BEST[0] && Number(minor) < BEST[1]);
    if (!isOld) return ok(text);
    return {
      status: 'warning',
      summary: `${text} is old: before 2.38 the work of a worktree is not merged when the project has new commits`,
      remedy: { words: 'Update git.', ...install },
    };
  },
};
