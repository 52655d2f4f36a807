import { stat } from 'node:fs/promises';
import { withinMs, type Clock } from '../../base/clock.js';
import { BridgeError, bridgeErrorOf, messageOf } from '../../base/errors.js';
import { createSecret } from '../../base/ids.js';
import { lazily } from '../../base/lifecycle.js';
import { MARK_VARIABLE } from '../../os/mark-variable.js';
import { findProgram } from '../../pty/find-program.js';
import { KILL_GRACE_MS } from '../../pty/kill-ladder.js';
import type { Child, OutputSink, PtySpawner } from '../../pty/child.js';
import { spawnPiped } from '../../pty/spawn-piped.js';
import type { ProcessBackend, ProcessHandle, ProcessSpec } from '../process-handle.js';
import { HostProcess, WatchedSink } from './host-process.js';
import { ProcessFamilies } from './process-family.js';

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
  readonly #families: ProcessFamilies;
  readonly #running = new Set<HostProcess>();
  /** Of all that was started and may have left something behind. */
  readonly #marks = new Set<string>();
  readonly #terminals = lazily(async (): Promise<PtySpawner> => {
    const { clock, terminals } = this.#options;
    if (terminals !== undefined) return terminals();
    const { PtyManager } = await import('../../pty/pty-manager.js');
    return new PtyManager({ clock });
  });
  #isDisposed = false;

  constructor(options: HostBackendOptions) {
    this.#options = options;
    this.#families = new ProcessFamilies(options.clock, options.startedSince);
  }

  async spawn(spec: ProcessSpec, sink: OutputSink): Promise<ProcessHandle> {
    const { clock, startedSince, killGraceMs = KILL_GRACE_MS } = this.#options;
    const { [MARK_VARIABLE]: mark = createSecret() } = spec.env;
    const marked = mark === spec.env[MARK_VARIABLE] ? spec : withMark(spec, mark);
    const watched = new WatchedSink(sink);
    const child = await this.#open(marked, watched).catch(async (thrown: unknown) => {
      throw await errorOf(thrown, spec);
    });
    const process = new HostProcess({
      spec,
      child,
      ended: watched.endOf(child, clock),
      mark,
      families: this.#families,
      clock,
      killGraceMs,
      startedSince,
    });
    this.#hold(process);
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
    if (this.#marks.size > 0) await this.#families.killAll(this.#marks);
    this.#marks.clear();
  }

  /** What ended may have left something behind, which is ended with all others. */
  #hold(process: HostProcess): void {
    this.#running.add(process);
    this.#marks.add(process.family.mark);
    void process.exited.then((exit) => {
      // Its output may still be held open, and then it is closed with all others.
      if (exit.reason === undefined) this.#running.delete(process);
    });
  }

  async #open({ command, cwd, env, tty }: ProcessSpec, sink: OutputSink): Promise<Child> {
    const { shell, pipeFolder } = this.#options;
    const program = await findProgram(command[0], cwd, env);
    if (tty === undefined) return spawnPiped({ command, program, cwd, env, sink, pipeFolder });
    return (await this.#terminals()).spawn({ command, cwd, env, sink, size: tty, shell });
  }
}

function withMark(spec: ProcessSpec, mark: string): ProcessSpec {
  return { ...spec, env: { ...spec.env, [MARK_VARIABLE]: mark } };
}

/** Why a start failed, in the words of what refused it. */
async function errorOf(thrown: unknown, { command, cwd }: ProcessSpec): Promise<BridgeError> {
  const folder = await stat(cwd).catch(() => undefined);
  if (folder?.isDirectory() !== true) {
    return new BridgeError(
      'SPAWN_FAILED',
      `${JSON.stringify(command[0])} cannot be started in ${JSON.stringify(cwd)}, which is not a directory.`,
      'Give a directory that exists.',
      { cause: thrown },
    );
  }
  if (thrown instanceof BridgeError) {
    const isMissing = /is not on PATH|does not exist|is not an executable file/.test(thrown.message);
    return new BridgeError(isMissing ? 'PROGRAM_NOT_FOUND' : 'SPAWN_FAILED', thrown.message, thrown.hint, {
      cause: thrown,
    });
  }
  const fault = bridgeErrorOf(thrown, 'spawn');
  if (fault.code === 'RESTART_NEEDED') return fault;
  return new BridgeError(
    'SPAWN_FAILED',
    `The system refused to start ${JSON.stringify(command[0])}: ${messageOf(thrown)}.`,
    'Check arguments and environment (a NUL byte, more than 128 KiB in one of them), and the number of processes that may run.',
    { cause: thrown },
  );
}
