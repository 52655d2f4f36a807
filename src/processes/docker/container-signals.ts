import { BridgeError } from '../../base/errors.js';
import { constants } from 'node:os';
import { refusalOf, type DockerEngine } from './engine/docker-engine.js';
import { runInside, type InsideResult } from './engine/run-inside.js';

/**
 * What init does not pass on: it cannot be told not to take them itself. SIGKILL is no such case: with init, all ends.
 * https://github.com/krallin/tini/blob/v0.19.0/src/tini.c (configure_signals)
 */
const NOT_PASSED_ON: ReadonlySet<NodeJS.Signals> = new Set<NodeJS.Signals>([
  ...(['SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGIOT', 'SIGTRAP'] as const),
  ...(['SIGSYS', 'SIGTTIN', 'SIGTTOU', 'SIGCHLD', 'SIGSTOP'] as const),
]);

/** The oldest child of init is the program; others were left to it later. The line has no end, which `read` takes for an error. */
const SIGNAL_PROGRAM = 'read -r program others </proc/1/task/1/children; echo; kill "-$1" "$program"';
/** All but init and the shell itself (kill(2)). Written so for busybox, which knows no `--`, and dash, which needs it behind `-s`. */
const SIGNAL_ALL = 'echo; kill "-$1" -1';
/**
 * The code of a shell that SIGKILL ended. A signal that ends the program ends the container, and the kernel with it the shell
 * that sent it, at times before that has ended by itself: then its empty line tells that it had come to the sending.
 */
const KILLED_CODE = 137;
/** The engine's answer about a container that does not run. */
const NOT_RUNNING_STATUS = 409;
const NO_SUCH_STATUS = 404;

/** Sends signals to the processes of one container. Throws PROCESS_NOT_RUNNING, DOCKER_UNAVAILABLE, INVALID_ARGUMENTS. */
export class ContainerSignals {
  readonly #engine: DockerEngine;
  readonly #containerId: string;

  constructor(engine: DockerEngine, containerId: string) {
    this.#engine = engine;
    this.#containerId = containerId;
  }

  /** To the program alone. */
  async toProgram(name: NodeJS.Signals): Promise<void> {
    if (!isSignal(name)) throw unknownSignal(name);
    return NOT_PASSED_ON.has(name) ? this.#inside(SIGNAL_PROGRAM, name) : this.#byEngine(name);
  }

  /** To the program and all that came of it. SIGKILL needs nothing of the image, and no process more. */
  async toAll(name: NodeJS.Signals): Promise<void> {
    if (!isSignal(name)) throw unknownSignal(name);
    return name === 'SIGKILL' ? this.#byEngine(name) : this.#inside(SIGNAL_ALL, name);
  }

  async #byEngine(name: NodeJS.Signals): Promise<void> {
    const id = this.#containerId;
    const answer = await this.#engine.call((client, abortSignal) =>
      client.getContainer(id).kill({ signal: name, abortSignal }),
    );
    if (answer.kind === 'value') return;
    throw isNotRunning(answer) ? notRunning() : refusalOf(answer, `the signal ${name}`);
  }

  async #inside(script: string, name: NodeJS.Signals): Promise<void> {
    const answer = await runInside(this.#engine, this.#containerId, script, [name.slice('SIG'.length)]);
    if (answer.kind === 'value' && wasSent(answer.value)) return;
    if (answer.kind === 'unreachable') throw refusalOf(answer, `the signal ${name}`);
    if (answer.kind === 'refused' && isNotRunning(answer)) throw notRunning();
    throw new BridgeError(
      'DOCKER_UNAVAILABLE',
      `The signal ${name} could not be sent inside the container: its image has no sh, or it may start no more processes.`,
      'Send it to the program alone (SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1 or SIGUSR2), or end the process by SIGKILL.',
    );
  }
}

/** Whether the shell sent the signal, from its exit code and output. Pure. */
export function wasSent({ exitCode, stdout }: InsideResult): boolean {
  return exitCode === 0 || (exitCode === KILLED_CODE && stdout !== '');
}

function isSignal(name: string): boolean {
  return Object.hasOwn(constants.signals, name);
}

function isNotRunning({ kind, status }: { readonly kind: string; readonly status?: number }): boolean {
  return kind === 'refused' && (status === NOT_RUNNING_STATUS || status === NO_SUCH_STATUS);
}

function unknownSignal(name: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `There is no signal ${JSON.stringify(name)} on this system.`,
    'Give a name such as SIGTERM, SIGINT or SIGKILL.',
  );
}

function notRunning(): BridgeError {
  return new BridgeError(
    'PROCESS_NOT_RUNNING',
    'The process has ended.',
    'Its output can still be read; start it again if need be.',
  );
}
