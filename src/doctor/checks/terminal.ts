import { systemClock } from '../../base/system-clock.js';
import { BridgeError } from '../../base/errors.js';
import { shellWord } from '../../base/text/shell-word.js';
import { findProgram } from '../../pty/find-program.js';
import { loadNodePty } from '../../pty/load-node-pty.js';
import { PtyManager } from '../../pty/pty-manager.js';
import { ok, type Check, type Finding } from '../check.js';

/** More than a terminal's buffer, so that the end comes after a wait. */
const LINES = 2_000;
const LAST_WORD = 'the-last-word';
/** awk is part of every POSIX system. */
const PRINTER = `BEGIN { for (i = 0; i < ${LINES}; i++) print "a line of output"; printf "${LAST_WORD}" }`;

export const terminal: Check = {
  id: 'terminal',
  category: 'system',
  look: async (context) => {
    try {
      await loadNodePty();
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return broken(error.message, {
        words: error.hint,
        command: 'npm install -g claude-code-bridge --include=optional',
      });
    }
    const env = await context.taskEnvironment();
    const { config, source, defaultSource } = await context.settings();
    try {
      await findProgram(config.shell, '/', env);
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return broken(`The shell of terminals (setting shell) cannot be used. ${error.message}`, {
        words: 'Correct the setting: any POSIX shell will do, such as /bin/sh.',
        command: `\${EDITOR:-vi} ${shellWord(source ?? defaultSource, context.homeDir)}`,
      });
    }
    let printed: string;
    try {
      printed = await lastPrinted(config.shell, env);
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return broken(error.message, { words: error.hint });
    }
    if (printed === LAST_WORD) return ok('A pseudo-terminal opens, and the last byte of its output arrives');
    return broken('A pseudo-terminal opens, but the end of the output of a program is lost', {
      words: 'Install the package again, with the binaries that belong to it.',
      command: 'npm install -g claude-code-bridge --include=optional',
    });
  },
};

/** The end of what a program prints that exits at once. Throws TASK_START_FAILED. */
async function lastPrinted(shell: string, env: Readonly<Record<string, string>>): Promise<string> {
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
    return printed;
  } finally {
    manager.dispose();
  }
}

function broken(summary: string, remedy: NonNullable<Finding['remedy']>): Finding {
  return { status: 'error', summary, remedy };
}
