import { stat } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { createSecret } from '../base/ids.js';
import type { Disposable } from '../base/lifecycle.js';
import { findProgram } from './find-program.js';
import type { IPty } from '@lydell/node-pty';
import { isRawPty, loadNodePty, type RawPty } from './load-node-pty.js';
import { WRAPPER_TEXT } from './end-mark.js';
import type { Child, PtySpawner, TerminalOptions } from './child.js';
import { TerminalChild } from './terminal-child.js';

/** The wrapper's name in a list of processes. */
const WRAPPER_NAME = 'claude-code-bridge-terminal';
/** Linux takes no single argument longer than this, its closing NUL included (MAX_ARG_STRLEN). */
const MAX_ARGUMENT_BYTES = 128 * 1024;

/** Starts programs in pseudo-terminals, and owns the children that run. */
export class PtyManager implements PtySpawner, Disposable {
  readonly #clock: Clock;
  readonly #children = new Set<TerminalChild>();
  #disposed = false;

  constructor(options: { clock: Clock }) {
    this.#clock = options.clock;
  }

  async spawn(options: TerminalOptions): Promise<Child> {
    const nodePty = await loadNodePty();
    const [name = '', ...args] = options.command;
    await refuseUnusable(options);
    const program = await findProgram(name, options.cwd, options.env);
    const shell = await findProgram(options.shell, options.cwd, options.env);
    if (this.#disposed) throw startFailed('the terminal manager is already closed', 'Start the task again.');
    const nonce = createSecret();
    const pty = this.#fork(() =>
      nodePty.spawn(
        shell,
        ['-c', WRAPPER_TEXT, WRAPPER_NAME, nonce, options.stdinFile ?? '', program, ...args],
        {
          name: options.env['TERM'] ?? 'xterm-256color',
          cols: options.size.columns,
          rows: options.size.rows,
          cwd: options.cwd,
          env: { ...options.env },
          encoding: null,
        },
      ),
    );
    const child = new TerminalChild({ pty, nonce, clock: this.#clock, sink: options.sink });
    this.#children.add(child);
    void child.released.then(() => this.#children.delete(child));
    return child;
  }

  /** Kills every terminal that still runs. */
  dispose(): void {
    this.#disposed = true;
    for (const child of this.#children) child.dispose();
  }

  /** Resolves when every terminal is closed and its first process reaped. */
  async whenClosed(): Promise<void> {
    await Promise.all([...this.#children].map((child) => child.released));
  }

  #fork(spawn: () => IPty): RawPty {
    let pty: IPty;
    try {
      pty = spawn();
    } catch (thrown) {
      throw new BridgeError(
        'TASK_START_FAILED',
        `A pseudo-terminal was asked for, and the system refused: ${messageOf(thrown)}`,
        'Free some processes or pseudo-terminals (see `ulimit -u` and /proc/sys/kernel/pty), then try again.',
        { cause: thrown },
      );
    }
    if (isRawPty(pty)) return pty;
    throw startFailed(
      'the pseudo-terminal module is not one the bridge knows',
      'Install @lydell/node-pty 1.1.',
    );
  }
}

/** Refuses what would make `execve` or the wrapper fail after the fork, where it would look like an end of the program. */
async function refuseUnusable(options: TerminalOptions): Promise<void> {
  const texts = [
    ...options.command,
    options.cwd,
    ...Object.entries(options.env).map(([key, value]) => `${key}=${value}`),
  ];
  for (const text of texts) {
    if (text.includes('\0'))
      throw startFailed('an argument, path or variable holds a NUL byte', 'Remove it.');
    if (Buffer.byteLength(text) >= MAX_ARGUMENT_BYTES) {
      throw startFailed(
        'an argument or variable is longer than 128 KiB',
        'Pass long text through stdinFile.',
      );
    }
  }
  const cwd = await stat(options.cwd).catch(() => undefined);
  if (!cwd?.isDirectory())
    throw startFailed(`${JSON.stringify(options.cwd)} is not a directory`, 'Give a directory.');
}

function startFailed(what: string, hint: string): BridgeError {
  return new BridgeError(
    'TASK_START_FAILED',
    `A program was to be started in a terminal, but ${what}.`,
    hint,
  );
}
