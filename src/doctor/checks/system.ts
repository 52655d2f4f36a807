import { BridgeError } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { compareVersions } from '../../claude/installation.js';
import { findProgram } from '../../pty/find-program.js';
import { loadNodePty } from '../../pty/load-node-pty.js';
import { PtyManager } from '../../pty/pty-manager.js';
import {
  editCommand,
  errorOf,
  fault,
  ok,
  systemCommand,
  unchecked,
  warning,
  type Check,
  type DoctorContext,
} from '../check.js';

/** More than a terminal's buffer, so that the end comes after a wait. */
const LINES = 2_000;
const LAST_WORD = 'the-last-word';
/** awk is part of every POSIX system. */
const PRINTER = `BEGIN { for (i = 0; i < ${LINES}; i++) print "a line of output"; printf "${LAST_WORD}" }`;
const REINSTALL = 'npm install -g claude-code-bridge --include=optional';
/** From here on work in a worktree merges without touching files (`git merge-tree --write-tree`). */
const BEST_GIT = '2.38';

export const terminal: Check = {
  id: 'terminal',
  category: 'system',
  look: async (context) => {
    const env = await context.taskEnvironment();
    const { config, source, defaultSource } = await context.settings();
    const steps = [
      { command: REINSTALL, what: '', tries: () => loadNodePty() },
      {
        command: editCommand(source ?? defaultSource, context.homeDir),
        what: 'The shell of terminals (setting shell) cannot be used. ',
        tries: () => findProgram(config.shell, '/', env),
      },
      { what: '', tries: () => mustPrintAll(config.shell, env) },
    ];
    for (const { tries, what, command } of steps) {
      const error = await errorOf(tries);
      if (error !== undefined) return fault(`${what}${error.message}`, error.hint, command);
    }
    return ok('A pseudo-terminal opens, and the last byte of its output arrives');
  },
};

/** Runs a program that prints much and exits at once. Throws TASK_START_FAILED, also when the end of its output is lost. */
async function mustPrintAll(shell: string, env: Readonly<Record<string, string>>): Promise<void> {
  let printed = '';
  const manager = new PtyManager({ clock: systemClock });
  try {
    const child = await manager.spawn({
      command: ['awk', PRINTER],
      cwd: '/',
      env: { ...env },
      shell,
      size: { columns: 120, rows: 40 },
      sink: {
        write: (_stream, bytes) => {
          printed = (printed + Buffer.from(bytes).toString('latin1')).slice(-LAST_WORD.length);
          return undefined;
        },
      },
    });
    await child.closed;
  } finally {
    manager.dispose();
  }
  if (printed === LAST_WORD) return;
  throw new BridgeError(
    'TASK_START_FAILED',
    'A pseudo-terminal opens, but the end of the output of a program is lost',
    `Install the package again, with the binaries that belong to it: ${REINSTALL}`,
  );
}

export const git: Check = {
  id: 'git',
  category: 'system',
  look: async ({ run, platform }: DoctorContext) => {
    const answer = await run('git', ['--version']);
    const install = systemCommand(platform, 'git');
    if (answer.how === 'missing') {
      const summary =
        'git was not found: tasks run, but their receipts show no changes, and worktrees do not work';
      return warning(summary, 'Install git.', install);
    }
    if (answer.how === 'failed') return unchecked(`git --version: ${answer.why}`);
    const [text, version] = /git version ([\d.]*\d)[\w.]*/.exec(answer.stdout) ?? [];
    if (answer.code !== 0 || text === undefined || version === undefined) {
      const [said = ''] = (answer.stderr || answer.stdout).trim().split('\n', 1);
      const words = 'Install git again, or repair what stands before it on PATH.';
      return warning(`git does not work: ${said}`, words, install);
    }
    if (compareVersions(version, BEST_GIT) >= 0) return ok(text);
    const summary = `${text} is old: before ${BEST_GIT} the work of a worktree is not merged when the project has new commits`;
    return warning(summary, 'Update git.', install);
  },
};
