import { readFile } from 'node:fs/promises';
import { withinMs } from '../../base/clock.js';
import { BridgeError, messageOf, ignoreBridgeError } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Child, OutputSink, PtySpawner, SpawnPiped, TerminalOptions } from '../../pty/child.js';
import { Container, isEnded, NOT_THERE, type OpenExec } from './container.js';
import { ContainerChild } from './container-child.js';
import { PROMPT_FILE, taskContainer, type TaskContainerPlan, type TaskProgram } from './container-options.js';
import { NOT_FOUND_CODE, RELAY_TEXT, UNFIT_IMAGE_CODE } from './container-texts.js';
import { type DockerEngine, refusalStatus } from './engine.js';
import { HookRelay, type AnswerHook } from './hook-relay.js';

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

export interface TaskContainerOptions {
  readonly engine: DockerEngine;
  readonly plan: TaskContainerPlan;
  /** What the program in the container begins with, and what answers its hooks here. */
  readonly redirectHooks: (options: TerminalOptions) => {
    readonly options: TerminalOptions;
    readonly answer: AnswerHook;
  };
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
    const { engine, onFault } = this.#options;
    await container.signal('SIGTERM').catch((error: unknown) => {
      // What waits for its end sees it.
      if (!isEnded(error)) onFault(messageOf(error));
    });
    if ((await withinMs(engine.clock, KILL_GRACE_MS, removed)) === true) return;
    child.dispose();
    if ((await withinMs(engine.clock, REMOVE_LIMIT_MS, removed)) === true) return;
    onFault(`The container ${container.id} could not be removed.`);
  }

  /** What another program prints that is run in the container; undefined when it fails. */
  async printed(command: readonly string[]): Promise<string | undefined> {
    const printed = await this.#running?.container.run(command, PRINT_LIMIT_MS).catch(ignoreBridgeError);
    return printed?.stdout;
  }

  /** Starts another program in the container; undefined while it does not run. Throws as `DockerEngine.call`. */
  async exec(command: readonly string[]): Promise<OpenExec | undefined> {
    return this.#running?.container.exec(command);
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
    const { engine, plan } = this.#options;
    // A task may begin a session again, in another container of the same name.
    if (this.#running !== undefined) await withinMs(engine.clock, REMOVE_LIMIT_MS, this.#running.removed);
    this.#running = undefined;
    let container: Container | undefined;
    try {
      container = await Container.create(engine, 'to make a container', taskContainer(plan, program));
      this.#running = await this.#start(container, program, answer);
      if (this.#isDisposed) throw startFailed('its keeper is already closing', 'Start the task again.');
      return this.#running.child;
    } catch (error) {
      this.#running = undefined;
      await container?.remove();
      throw asStartFailure(error, plan.image);
    }
  }

  async #start(container: Container, program: TaskProgram, answer: AnswerHook): Promise<Running> {
    const { plan } = this.#options;
    if (program.stdinFile !== undefined) {
      const header = { name: PROMPT_FILE.slice(1), mode: 0o400, uid: plan.uid, gid: plan.gid };
      await container.put('/', header, await readFile(program.stdinFile));
    }
    let isReady = false;
    const before: Buffer[] = [];
    const sink: OutputSink = {
      write: (name, bytes) => {
        if (!isReady) before.push(Buffer.from(bytes));
        return program.sink.write(name, bytes);
      },
    };
    const memoryWords = `The agent used more memory than its container may (${plan.memoryMb} MB), and the kernel ended it. The user can allow more with memory_mb in the setting task_container (MCP_TASK_CONTAINER).`;
    const child = await ContainerChild.start(container, { sink, size: program.size, memoryWords });
    const justEnded = () => withinMs(this.#options.engine.clock, JUST_ENDED_MS, child.exited);
    const relay = await this.#relay(container, answer).catch(async (error: unknown) => {
      // The engine refuses with many words to run something in a container that has just ended.
      if ((await justEnded()) === undefined) throw error;
      return undefined;
    });
    isReady = relay !== undefined;
    if (relay !== undefined)
      return { container, child, relay, removed: child.exited.then(() => container.remove()) };
    const said = Buffer.concat(before).toString('utf8').trim();
    throw unfitImage(plan.image, program.command[0] ?? '', (await justEnded())?.code, said);
  }

  /** Resolves when the relay has let the program begin; undefined when the container ended, or hung, before. */
  async #relay(container: Container, answer: AnswerHook): Promise<HookRelay | undefined> {
    const { engine, onFault } = this.#options;
    const { stream: input, stdout: output } = await container.exec(['/bin/sh', '-c', RELAY_TEXT]);
    const relay = new HookRelay({ input, output, answer, onFault });
    if ((await withinMs(engine.clock, READY_LIMIT_MS, relay.ready)) === true) return relay;
    relay.dispose();
    return undefined;
  }
}

/** The engine's refusal or silence as the error of a start. */
function asStartFailure(error: unknown, image: string): unknown {
  if (!(error instanceof BridgeError) || error.code === 'TASK_START_FAILED') return error;
  const { message, hint, cause } = error;
  if (refusalStatus(error) === NOT_THERE && /no such image/i.test(message)) {
    return startFailed(
      `the Docker engine has no image ${image}`,
      `Ask the user to run \`docker pull ${image}\` or to build it, or to name another image in the setting task_container (MCP_TASK_CONTAINER).`,
    );
  }
  return new BridgeError('TASK_START_FAILED', message, hint, { cause });
}

/** The container ended, or hung, before its program began; its exit code, if known, and what it said. */
function unfitImage(image: string, program: string, exitCode: number | undefined, said: string): BridgeError {
  const codes = new Map([
    [NOT_FOUND_CODE, `the image ${image} has no program '${program}'`],
    [UNFIT_IMAGE_CODE, `the image ${image} lacks mkfifo (package coreutils or busybox)`],
  ]);
  const what = codes.get(exitCode ?? 0) ?? `its container ended at once with code ${exitCode ?? 'unknown'}`;
  return startFailed(
    said === '' ? what : `${what} (it said: ${said})`,
    'An image for tasks holds Claude Code as `claude` on its PATH, a shell as /bin/sh with the usual small programs, bash and git. See docs/containers.md.',
  );
}

export function startFailed(what: string, hint: string): BridgeError {
  return new BridgeError(
    'TASK_START_FAILED',
    `A task with isolation "docker" was to be started, but ${what}.`,
    hint,
  );
}
