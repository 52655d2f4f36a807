import { readFile } from 'node:fs/promises';
import { withinMs, type Clock } from '../../../base/clock.js';
import { BridgeError } from '../../../base/errors.js';
import type { Disposable } from '../../../base/lifecycle.js';
import type { Child, PtySpawner, SpawnPiped, TerminalOptions } from '../../../pty/child.js';
import { ContainerChild } from '../container-child.js';
import { NOT_FOUND_CODE, RELAY_TEXT, UNFIT_IMAGE_CODE } from '../container-texts.js';
import { Container, type OpenExec } from '../container.js';
import type { DockerEngine, EngineAnswer } from '../engine/docker-engine.js';
import { HookRelay, type AnswerHook } from './hook-relay.js';
import {
  PROMPT_FILE,
  taskContainer,
  type TaskContainerPlan,
  type TaskProgram,
} from './task-container-plan.js';

/** As long as a task on this machine has between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 5_000;
/** The kernel ends what is in a container at once; removing its files takes the engine a moment more. */
const REMOVE_LIMIT_MS = 20_000;
/** From the start of the container until its relay says so: a second on a busy machine. Less than the keeper is given to start. */
const READY_LIMIT_MS = 25_000;
/** The engine reports the end of a container within this time. */
const JUST_ENDED_MS = 2_000;
/** The command of a program that prints something about itself, such as its version. */
const PRINT_LIMIT_MS = 30_000;
const HTTP_NOT_FOUND = 404;

export interface TaskContainerOptions {
  readonly engine: DockerEngine;
  readonly plan: TaskContainerPlan;
  /** What the program in the container begins with, and what answers its hooks here. */
  readonly redirectHooks: (options: TerminalOptions) => {
    readonly options: TerminalOptions;
    readonly answer: AnswerHook;
  };
  readonly clock: Clock;
  /** Something that the task survives, in words. */
  readonly onFault: (text: string) => void;
}

interface Running {
  readonly container: Container;
  readonly child: ContainerChild;
  readonly relay: HookRelay;
  /** Resolves with true when the container is gone after its end. */
  readonly removed: Promise<boolean>;
}

/**
 * The container of one task, with a terminal or with pipes: what is spawned runs in it, and it is gone when the program has
 * ended, for any reason. Both ways to spawn throw TASK_START_FAILED, with nothing left behind.
 */
export class TaskContainer implements PtySpawner, Disposable {
  readonly #options: TaskContainerOptions;
  #running: Running | undefined;
  #isDisposed = false;

  constructor(options: TaskContainerOptions) {
    this.#options = options;
  }

  async spawn(asked: TerminalOptions): Promise<Child> {
    const { options, answer } = this.#options.redirectHooks(asked);
    return this.#begin(options, answer);
  }

  /** On pipes, for a program that asks through them and needs no hooks. */
  readonly spawnPiped: SpawnPiped = (options) => this.#begin(options, () => Promise.resolve('{}'));

  /** SIGTERM to the program, after the grace time SIGKILL to all in the container. Resolves when it is gone. */
  async end(): Promise<void> {
    if (this.#running === undefined) return;
    const { container, child, removed } = this.#running;
    const { clock, onFault } = this.#options;
    const answer = await container.signal('SIGTERM');
    // Ended already, or the engine is gone: what waits for the end sees it.
    if (answer.kind === 'unreachable') onFault(answer.fault.message);
    if ((await withinMs(clock, KILL_GRACE_MS, removed)) === true) return;
    child.dispose();
    if ((await withinMs(clock, REMOVE_LIMIT_MS, removed)) === true) return;
    onFault(`The container ${container.id} could not be removed.`);
  }

  /** What another program prints that is run in the container; undefined when it fails. */
  async printed(command: readonly string[]): Promise<string | undefined> {
    const answer = await this.#running?.container.run(command, PRINT_LIMIT_MS);
    return answer?.kind === 'value' ? answer.value.stdout : undefined;
  }

  /** As when this process dies: the relay's input ends, and the container with it. */
  hangUp(): void {
    this.#running?.relay.dispose();
  }

  /** Ends the container at once. */
  dispose(): void {
    this.#isDisposed = true;
    // The relay's end is the container's, also when this process has no time left to wait for an answer.
    this.hangUp();
    this.#running?.child.dispose();
  }

  /** Makes the container and lets the program in it begin. */
  async #begin(program: TaskProgram, answer: AnswerHook): Promise<Child> {
    const { engine, clock, plan } = this.#options;
    // A task may begin a session again, in another container of the same name.
    if (this.#running !== undefined) await withinMs(clock, REMOVE_LIMIT_MS, this.#running.removed);
    this.#running = undefined;
    const made = await engine.call((client) => client.createContainer(taskContainer(plan, program)));
    const container = new Container(engine, this.#value('to make a container', made).id, clock);
    try {
      if (program.stdinFile !== undefined) {
        const header = { name: PROMPT_FILE.slice(1), mode: 0o400, uid: plan.uid, gid: plan.gid };
        const put = await container.put('/', header, await readFile(program.stdinFile));
        this.#value('to take the prompt', put);
      }
      const stream = this.#value('to open its input and output', await container.attach());
      this.#value('to start a container', await container.start());
      if (program.size !== undefined) await container.resize(program.size);
      const before: Buffer[] = [];
      const child = new ContainerChild(container, {
        stream,
        sink: {
          write: (name, bytes) => {
            if (this.#running === undefined) before.push(Buffer.from(bytes));
            return program.sink.write(name, bytes);
          },
        },
        isTerminal: program.size !== undefined,
        memoryWords: outOfMemory(plan.memoryMb),
      });
      const relay = await this.#openRelay(container, answer, async (exec) => {
        // The engine refuses with many words to run something in a container that has just ended.
        const ended = await withinMs(clock, JUST_ENDED_MS, child.exited);
        if (ended === undefined && exec.kind !== 'value')
          return refusedStart('to run its relay', plan.image, exec);
        const words = Buffer.concat(before).toString('utf8').trim();
        return unfitImage({
          image: plan.image,
          program: program.command[0] ?? '',
          exitCode: ended?.code,
          words,
        });
      });
      if (this.#isDisposed) throw startFailed('its keeper is already closing', 'Start the task again.');
      this.#running = { container, child, relay, removed: child.exited.then(() => container.remove()) };
      return child;
    } catch (error) {
      await container.remove();
      throw error;
    }
  }

  /** Resolves when the relay has let the program begin. Throws `failure` when the container ended, or hung, before. */
  async #openRelay(
    container: Container,
    answer: AnswerHook,
    failure: (exec: EngineAnswer<OpenExec>) => Promise<BridgeError>,
  ): Promise<HookRelay> {
    const { clock, onFault } = this.#options;
    const exec = await container.exec(['/bin/sh', '-c', RELAY_TEXT]);
    if (exec.kind === 'value') {
      const { stream: input, stdout: output } = exec.value;
      const relay = new HookRelay({ input, output, answer, onFault });
      if ((await withinMs(clock, READY_LIMIT_MS, relay.ready)) === true) return relay;
      relay.dispose();
    }
    throw await failure(exec);
  }

  #value<T>(what: string, answer: EngineAnswer<T>): T {
    if (answer.kind === 'value') return answer.value;
    throw refusedStart(what, this.#options.plan.image, answer);
  }
}

/** The engine's refusal of `what` ("to make a container"), or its silence, as the error of a start. */
function refusedStart(
  what: string,
  image: string,
  answer: Exclude<EngineAnswer<unknown>, { kind: 'value' }>,
): BridgeError {
  if (answer.kind === 'unreachable') {
    const { message, hint, cause } = answer.fault;
    return new BridgeError('TASK_START_FAILED', message, hint, { cause });
  }
  if (answer.status === HTTP_NOT_FOUND && /no such image/i.test(answer.words)) {
    return startFailed(
      `the Docker engine at ${answer.engine} has no image ${image}`,
      `Ask the user to run \`docker pull ${image}\` or to build it, or to name another image in the setting task_container (MCP_TASK_CONTAINER).`,
    );
  }
  return startFailed(
    `the Docker engine at ${answer.engine} refused ${what}: ${answer.words}`,
    'Ask the user to change what the message names.',
  );
}

interface UnfitContainer {
  readonly image: string;
  readonly program: string;
  /** Undefined when the container hangs, or it is not known. */
  readonly exitCode: number | undefined;
  /** What it printed. */
  readonly words: string;
}

/** The container ended, or hung, before its program began. */
function unfitImage({ image, program, exitCode, words }: UnfitContainer): BridgeError {
  const what =
    exitCode === NOT_FOUND_CODE
      ? `the image ${image} has no program '${program}'`
      : exitCode === UNFIT_IMAGE_CODE
        ? `the image ${image} lacks mkfifo (package coreutils or busybox)`
        : `its container ended at once with code ${exitCode ?? 'unknown'}`;
  return startFailed(
    words === '' ? what : `${what} (it said: ${words})`,
    'An image for tasks holds Claude Code as `claude` on its PATH, a shell as /bin/sh with the usual small programs, bash and git. See docs/containers.md.',
  );
}

/** Why a task ended whose container had no memory left. */
function outOfMemory(memoryMb: number): string {
  return `The agent used more memory than its container may (${memoryMb} MB), and the kernel ended it. The user can allow more with memory_mb in the setting task_container (MCP_TASK_CONTAINER).`;
}

export function startFailed(what: string, hint: string): BridgeError {
  return new BridgeError(
    'TASK_START_FAILED',
    `A task with isolation "docker" was to be started, but ${what}.`,
    hint,
  );
}
