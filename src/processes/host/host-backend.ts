import { stat } from 'node:fs/promises';
import { withinMs, type Clock } from '../../base/clock.js';
import { BridgeError, bridgeErrorOf, type ErrorCode, messageOf } from '../../base/errors.js';
import { createSecret } from '../../base/ids.js';
import { lazily } from '../../base/lifecycle.js';
import { MARK_VARIABLE } from '../../os/mark-variable.js';
import type { MarkedProcess } from '../../os/process-info.js';
import { processSource } from '../../os/process-source.js';
import type { Child, OutputSink, PtySpawner } from '../../pty/child.js';
import { findProgram } from '../../pty/find-program.js';
import { KILL_GRACE_MS } from '../../pty/kill-ladder.js';
import { spawnPiped } from '../../pty/spawn-piped.js';
import type { ProcessBackend, ProcessHandle, ProcessSpec } from '../process-handle.js';
import { HostProcess, killMarked, WatchedSink } from './host-process.js';

/** What a process has between SIGTERM and SIGKILL when the server leaves: its client waits for that, and kills it after 100 ms. */
const LEAVE_GRACE_MS = 60;

export interface HostBackendOptions {
  readonly clock: Clock;
  /** Opens terminals, for a test; called for the first one. */
  readonly terminals?: () => Promise<PtySpawner>;
  /** POSIX shell for the wrapper around a program in a terminal. */
  readonly shell: string;
  /** What a process has between SIGTERM and SIGKILL when it is to be ended. */
  readonly killGraceMs?: number;
  /** A folder for us alone, where pipes have their names for a moment; without one Node's own pipes are used. */
  readonly pipeFolder?: string | undefined;
  /** Start of this process as in Family: nothing that began earlier is one of ours. */
  readonly startedSince?: string | undefined;
}

/**
 * Runs processes on this machine. Each carries a mark in its environment (`CLAUDE_CODE_BRIDGE_MARK`, taken from `env` if it
 * is there): by it all that comes of the process is found again, also what left its group.
 */
export class HostBackend implements ProcessBackend {
  readonly #options: HostBackendOptions;
  readonly #running = new Set<HostProcess>();
  /** Of all that was started and may have left something behind. */
  readonly #marks = new Set<string>();
  readonly #terminals: () => Promise<PtySpawner>;
  #table: Promise<readonly MarkedProcess[]> | undefined;
  #isDisposed = false;

  constructor(options: HostBackendOptions) {
    this.#options = options;
    const { clock } = options;
    const open = async () => new (await import('../../pty/pty-manager.js')).PtyManager({ clock });
    this.#terminals = options.terminals ?? lazily(open);
  }

  async spawn(spec: ProcessSpec, sink: OutputSink): Promise<ProcessHandle> {
    const { clock, startedSince, killGraceMs = KILL_GRACE_MS } = this.#options;
    const { [MARK_VARIABLE]: mark = createSecret() } = spec.env;
    const watched = new WatchedSink(sink);
    const marked = { ...spec, env: { ...spec.env, [MARK_VARIABLE]: mark } };
    const child = await this.#open(marked, watched);
    const table = () => this.#sharedTable();
    const parts = { child, sink: watched, mark, startedSince, table, clock, killGraceMs };
    const process = new HostProcess(spec, parts);
    this.#running.add(process);
    this.#marks.add(mark);
    void process.exited.then((exit) => {
      // Its output may still be held open, and then it is closed with all others.
      if (exit.reason === undefined) this.#running.delete(process);
    });
    if (this.#isDisposed) await process.dispose();
    return process;
  }

  /** SIGKILL to all groups, without waiting for anything: for the last moment of this program. */
  killAtOnce(): void {
    for (const one of this.#running) one.close();
  }

  /** SIGTERM to all groups at once, a moment later SIGKILL to what is left of them and to all that left them. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const running = [...this.#running];
    for (const one of running) one.askToEnd();
    await withinMs(this.#options.clock, LEAVE_GRACE_MS, Promise.all(running.map((one) => one.exited)));
    for (const one of running) one.close();
    this.#running.clear();
    if (this.#marks.size > 0) await killMarked(this.#marks, this.#options.startedSince);
    this.#marks.clear();
  }

  /** `ps` of twenty processes reads it once. */
  #sharedTable(): Promise<readonly MarkedProcess[]> {
    this.#table ??= processSource
      .markedTable(this.#options.startedSince)
      .finally(() => (this.#table = undefined));
    return this.#table;
  }

  async #open({ command, cwd, env, tty }: ProcessSpec, sink: OutputSink): Promise<Child> {
    const { shell, pipeFolder } = this.#options;
    const name = JSON.stringify(command[0]);
    const folder = await stat(cwd).catch(() => undefined);
    if (folder?.isDirectory() !== true) {
      const message = `${name} cannot be started in ${JSON.stringify(cwd)}, which is not a directory.`;
      throw new BridgeError('SPAWN_FAILED', message, 'Give a directory that exists.');
    }
    const program = await findProgram(command[0], cwd, env).catch((error: unknown) => {
      throw withCode('PROGRAM_NOT_FOUND', error);
    });
    try {
      if (tty === undefined) return await spawnPiped({ command, program, cwd, env, sink, pipeFolder });
      return await (await this.#terminals()).spawn({ command, cwd, env, sink, size: tty, shell });
    } catch (thrown) {
      const fault = bridgeErrorOf(thrown, 'spawn');
      if (fault.code !== 'INTERNAL_ERROR') throw withCode('SPAWN_FAILED', fault);
      throw new BridgeError(
        'SPAWN_FAILED',
        `The system refused to start ${name}: ${messageOf(thrown)}.`,
        'Check arguments and environment (a NUL byte, more than 128 KiB in one of them), and the number of processes that may run.',
        { cause: thrown },
      );
    }
  }
}

/** An error of a terminal's start as one of a process; that the bridge needs a restart stays. */
function withCode(code: ErrorCode, error: unknown): unknown {
  if (!(error instanceof BridgeError) || error.code === 'RESTART_NEEDED') return error;
  return new BridgeError(code, error.message, error.hint, { cause: error });
}
