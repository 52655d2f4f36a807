import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { withinMs, type Clock } from '../../../base/clock.js';
import { messageOf, type BridgeError } from '../../../base/errors.js';
import type { Disposable } from '../../../base/lifecycle.js';
import type {
  Child,
  OutputSink,
  PtySpawner,
  SpawnPiped,
  TerminalOptions,
  TerminalSize,
} from '../../../pty/child.js';
import { exitStatusFromShell, type ExitStatus } from '../../../pty/exit-status.js';
import { AttachedOutput } from '../attached-output.js';
import { ContainerChild } from '../container-child.js';
import { RELAY_TEXT } from '../container-texts.js';
import type { DockerEngine, EngineClient } from '../engine/docker-engine.js';
import { FrameSplitter } from '../engine/frame-splitter.js';
import { HookRelay, type AnswerHook } from './hook-relay.js';
import { asDuplex, openExec, type OpenExec } from '../engine/open-exec.js';
import { wasOutOfMemory } from './memory-word.js';
import { outOfMemory, refusedStart, startFailed, unfitImage } from './task-container-faults.js';
import {
  PROMPT_FILE,
  taskContainer,
  type TaskContainerPlan,
  type TaskProgram,
} from './task-container-plan.js';
import { waitForContainer } from '../engine/wait-for-container.js';

/** As long as a task on this machine has between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 5_000;
/** The kernel ends what is in a container at once; removing its files takes the engine a moment more. */
const REMOVE_LIMIT_MS = 20_000;
/** From the start of the container until its relay says so: a second on a busy machine. Less than the keeper is given to start. */
const READY_LIMIT_MS = 25_000;
/** The engine reports the end of a container within this time. */
const JUST_ENDED_MS = 2_000;
/** The engine reports the end of the output and the end of the container within this of each other. */
const OTHER_END_LIMIT_MS = 10_000;
/** Printed for the person when it is unknown how the program ended. */
const LOST_WORDS = 'The Docker engine went away, and the container with it.';
/** A task runs for hours; its container's end is waited for without another limit. */
const NO_LIMIT_MS = 2 ** 40;
/** What a program prints about itself, such as its version. */
const MAX_PRINTED_BYTES = 10_000;
const RUN_LIMIT_MS = 30_000;
/** Without an answer of the engine an end by SIGKILL is reported without a reason. */
const MEMORY_LIMIT_MS = 5_000;

/** What the CLI's hooks need: they run in the container, and are answered here. */
interface ContainerHooks {
  /** The command with its hooks led to the relay, and who answers them. */
  redirect(options: TerminalOptions): { readonly options: TerminalOptions; readonly answer: AnswerHook };
}

export interface TaskContainerOptions {
  readonly engine: DockerEngine;
  readonly plan: TaskContainerPlan;
  readonly hooks: ContainerHooks;
  readonly clock: Clock;
  /** Something that the task survives, in words. */
  readonly onFault: (text: string) => void;
}

interface Running {
  readonly id: string;
  readonly relay: HookRelay;
  /** Resolves when the engine has removed the container, or is gone itself. */
  readonly removed: Promise<void>;
}

interface Begun extends Running {
  /** Both ways of the program, not yet read from. */
  readonly stream: Duplex;
  /** The exit code; undefined when the engine went away first. */
  readonly exit: Promise<number | undefined>;
}

/**
 * The container of one task, with a terminal or with pipes: what is spawned runs in it, and it is gone when the program has
 * ended, for any reason. Both ways to spawn throw TASK_START_FAILED, with nothing left behind.
 */
export class TaskContainer implements PtySpawner, Disposable {
  readonly #options: TaskContainerOptions;
  #running: Running | undefined;
  #isDisposed = false;
  /** Containers that were ended from here: the reason is known. */
  readonly #ended = new Set<string>();

  constructor(options: TaskContainerOptions) {
    this.#options = options;
  }

  async spawn(asked: TerminalOptions): Promise<Child> {
    const { options, answer } = this.#options.hooks.redirect(asked);
    const program = { ...options, isTerminal: true };
    const begun = await this.#begin(program, answer, (id) => this.#resize(id, options.size));
    return this.#child(begun, program);
  }

  /** On pipes, for a program that asks through them and needs no hooks. */
  readonly spawnPiped: SpawnPiped = async (options) => {
    const program = { ...options, isTerminal: false };
    return this.#child(await this.#begin(program, noAnswer), program);
  };

  /** SIGTERM to the program, after the grace time SIGKILL to all in the container. Resolves when it is gone. */
  async end(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    const isGone = () => running.removed.then(() => true);
    await this.#signal(running.id, 'SIGTERM');
    if ((await withinMs(this.#options.clock, KILL_GRACE_MS, isGone())) === true) return;
    await this.#remove(running.id);
    if ((await withinMs(this.#options.clock, REMOVE_LIMIT_MS, isGone())) === true) return;
    this.#options.onFault(`The container ${running.id} could not be removed.`);
  }

  /** What another program prints that is run in the container; undefined when it fails. */
  async printed(command: readonly string[]): Promise<string | undefined> {
    const running = this.#running;
    if (running === undefined) return undefined;
    const { stream, stdout } = await this.#exec(running.id, command);
    const chunks: Buffer[] = [];
    let bytes = 0;
    stdout.on('data', (chunk: Buffer) => {
      if (bytes < MAX_PRINTED_BYTES) chunks.push(chunk);
      bytes += chunk.length;
    });
    const ended = new Promise<true>((resolve) => {
      for (const event of ['end', 'close', 'error'] as const) stream.on(event, () => resolve(true));
    });
    const isWhole = await withinMs(this.#options.clock, RUN_LIMIT_MS, ended);
    stream.destroy();
    return isWhole === true ? Buffer.concat(chunks).toString('utf8') : undefined;
  }

  /** As when this process dies: the relay's input ends, and the container with it. */
  hangUp(): void {
    this.#running?.relay.dispose();
  }

  /** Ends the container at once, and lets the engine remove it. */
  dispose(): void {
    this.#isDisposed = true;
    const running = this.#running;
    if (running === undefined) return;
    // The relay's end is the container's, also when this process has no time left to wait for an answer.
    this.hangUp();
    void this.#remove(running.id);
  }

  #child(begun: Begun, { isTerminal, sink }: TaskProgram): Child {
    const { id, stream } = begun;
    return new ContainerChild({
      stream,
      isTerminal,
      exited: this.#exit(begun, { isTerminal, sink }),
      resize: (size) =>
        this.#resize(id, size).catch((error: unknown) => this.#options.onFault(messageOf(error))),
      kill: () => void this.#remove(id),
    });
  }

  /** Hands on all output, and then says how the program ended. */
  async #exit(
    { id, stream, exit }: Begun,
    { isTerminal, sink }: { readonly isTerminal: boolean; readonly sink: OutputSink },
  ): Promise<ExitStatus> {
    const { clock } = this.#options;
    const output = new AttachedOutput(stream, { sink, isTerminal });
    // The program runs, so nothing that it prints is the container's init.
    void output.release();
    // The engine reports the end of the output and the end of the container in either order.
    await Promise.race([output.ended, exit]);
    const code = await withinMs(clock, OTHER_END_LIMIT_MS, exit);
    await output.rest(clock);
    if (code === undefined) {
      await sink.write(isTerminal ? 'terminal' : 'stderr', Buffer.from(`\r\n${LOST_WORDS}\r\n`));
      return {};
    }
    const status = exitStatusFromShell(code);
    const reason = status.signal === 'SIGKILL' ? await this.#whyKilled(id) : undefined;
    return reason === undefined ? status : { ...status, outOfMemory: true, reason };
  }

  /** Makes the container and lets the program in it begin, after `prepare`. */
  async #begin(
    program: TaskProgram,
    answer: AnswerHook,
    prepare?: (id: string) => Promise<void>,
  ): Promise<Begun> {
    const { clock, plan } = this.#options;
    // A task may begin a session again, in another container of the same name.
    if (this.#running !== undefined) await withinMs(clock, REMOVE_LIMIT_MS, this.#running.removed);
    const { id } = await this.#ask('to make a container', (client) =>
      client.createContainer(taskContainer(plan, program)),
    );
    try {
      if (program.stdinFile !== undefined) await this.#putPrompt(id, program.stdinFile);
      const begun = await this.#start(id, program, answer, prepare);
      if (this.#isDisposed) throw startFailed('its keeper is already closing', 'Start the task again.');
      this.#running = begun;
      return begun;
    } catch (error) {
      await this.#remove(id);
      // One that has ended is being removed already, which takes a moment.
      await withinMs(clock, REMOVE_LIMIT_MS, this.#wait(id, 'removed'));
      throw error;
    }
  }

  async #start(
    id: string,
    program: TaskProgram,
    answer: AnswerHook,
    prepare: ((id: string) => Promise<void>) | undefined,
  ): Promise<Begun> {
    const stream = await this.#ask('to open its input and output', async (client) =>
      asDuplex(
        await client
          .getContainer(id)
          .attach({ stream: true, hijack: true, stdin: true, stdout: true, stderr: true }),
      ),
    );
    // Asked before the start: a container that has ended answers neither.
    const exit = this.#wait(id, 'next-exit');
    const removed = this.#wait(id, 'removed');
    try {
      await this.#ask('to start a container', (client) => client.getContainer(id).start());
      await prepare?.(id);
      const relay = await this.#openRelay(id, answer, exit);
      if (relay === undefined) throw await this.#unfit(exit, stream, program);
      return { id, stream, exit, relay, removed: removed.then(() => undefined) };
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /** Resolves when the relay has let the program begin; undefined when the container ended before. */
  async #openRelay(
    id: string,
    answer: AnswerHook,
    exit: Promise<number | undefined>,
  ): Promise<HookRelay | undefined> {
    const { clock, onFault } = this.#options;
    const isOver = exit.then(() => false);
    try {
      const { stream: input, stdout: output } = await this.#exec(id, ['/bin/sh', '-c', RELAY_TEXT]);
      const relay = new HookRelay({ input, output, answer, onFault });
      if ((await withinMs(clock, READY_LIMIT_MS, Promise.race([relay.ready, isOver]))) === true) return relay;
      relay.dispose();
      return undefined;
    } catch (error) {
      // The engine refuses with many words to run something in a container that has just ended.
      if ((await withinMs(clock, JUST_ENDED_MS, isOver)) === false) return undefined;
      throw error;
    }
  }

  async #putPrompt(id: string, promptFile: string): Promise<void> {
    const { uid, gid } = this.#options.plan;
    const archive = pack();
    archive.entry({ name: PROMPT_FILE.slice(1), mode: 0o400, uid, gid }, await readFile(promptFile));
    archive.finalize();
    const bytes = await buffer(archive);
    await this.#ask('to take the prompt', (client) =>
      client.getContainer(id).putArchive(bytes, { path: '/' }),
    );
  }

  #exec(id: string, command: readonly string[]): Promise<OpenExec> {
    return this.#ask('to run its relay', (client) => openExec(client, id, command));
  }

  async #resize(id: string, { columns, rows }: TerminalSize): Promise<void> {
    // A container that ends at this moment has no size to set; its child reports the end.
    await this.#options.engine.call((client) => client.getContainer(id).resize({ w: columns, h: rows }));
  }

  /** The exit code; undefined when the engine is gone, or does not know the container any more. */
  async #wait(id: string, condition: 'next-exit' | 'removed'): Promise<number | undefined> {
    const answer = await this.#options.engine.call(
      (client) => waitForContainer(client, id, undefined, condition),
      NO_LIMIT_MS,
    );
    return answer.kind === 'value' ? answer.value : undefined;
  }

  async #signal(id: string, signal: string): Promise<void> {
    const answer = await this.#options.engine.call((client) => client.getContainer(id).kill({ signal }));
    // Ended already, or the engine is gone: what waits for the end sees it.
    if (answer.kind === 'unreachable') this.#options.onFault(answer.fault.message);
  }

  async #whyKilled(id: string): Promise<string | undefined> {
    if (this.#ended.has(id)) return undefined;
    const { engine, clock, plan } = this.#options;
    const answer = await engine.call(
      (client, signal) => wasOutOfMemory(client, id, clock.now(), signal),
      MEMORY_LIMIT_MS,
    );
    return answer.kind === 'value' && answer.value ? outOfMemory(plan.memoryMb) : undefined;
  }

  /** Kills and removes it; its volumes without a name with it. */
  async #remove(id: string): Promise<void> {
    this.#ended.add(id);
    const answer = await this.#options.engine.call((client) =>
      client.getContainer(id).remove({ force: true, v: true }),
    );
    // Removed already, or being removed: the engine says so with other words.
    if (answer.kind === 'unreachable') this.#options.onFault(answer.fault.message);
  }

  async #ask<T>(what: string, ask: (client: EngineClient) => Promise<T>): Promise<T> {
    const answer = await this.#options.engine.call(ask);
    if (answer.kind === 'value') return answer.value;
    throw refusedStart(what, this.#options.plan.image, answer);
  }

  /** Why the container ended, or hung, before its program began. */
  async #unfit(
    exit: Promise<number | undefined>,
    stream: Duplex,
    { command, isTerminal }: TaskProgram,
  ): Promise<BridgeError> {
    const { clock, plan } = this.#options;
    const exitCode = await withinMs(clock, REMOVE_LIMIT_MS, exit);
    const chunk: unknown = stream.read();
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.alloc(0);
    const pieces = isTerminal ? [{ bytes }] : new FrameSplitter().split(bytes);
    return unfitImage({
      image: plan.image,
      program: command[0] ?? '',
      exitCode,
      words: Buffer.concat(pieces.map((piece) => piece.bytes))
        .toString('utf8')
        .trim(),
    });
  }
}

/** The answer to a hook of the CLI that is not used. */
function noAnswer(): Promise<string> {
  return Promise.resolve('{}');
}
