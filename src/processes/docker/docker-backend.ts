import { randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';
import { withinMs, type Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { ignoreBridgeError } from '../../base/ignore-bridge-error.js';
import type { Logger } from '../../base/logger.js';
import { processState, type ProcessState } from '../../store/process-identity.js';
import type { ProcessIdentity } from '../../store/process-place.js';
import type { OutputSink } from '../../pty/child.js';
import type { ProcessBackend } from '../process-backend.js';
import type { ProcessHandle } from '../process-handle.js';
import { AttachedOutput } from './attached-output.js';
import { killContainersHere } from './containers-here.js';
import type { CopyContainer } from './copies/container-copies.js';
import { containerLabels, type ContainerOwner } from './container-labels.js';
import { containerOptions } from './container-options.js';
import { refusalOf, type DockerEngine } from './engine/docker-engine.js';
import { DockerProcess } from './docker-process.js';
import { PROJECT_DIRECTORY, type DockerSpec } from './docker-spec.js';
import { isLocal } from './engine/engine-address.js';
import { EngineWatch } from './engine/engine-watch.js';
import { LeftoverContainers } from './leftover-containers.js';
import { untilBegun } from './program-begun.js';
import { WorkVolumes, type WorkVolume } from './work-volume.js';

const NAME_PREFIX = 'process-mcp-';
/** Starting a container on a machine that is busy with twenty of them. */
const START_LIMIT_MS = 60_000;
const NO_SUCH_STATUS = 404;
/** An engine that hangs must not hold a server that leaves. */
const LEAVE_LIMIT_MS = 5_000;
/** Of so many processes the volume is found after their end. */
const REMEMBERED = 1_000;
/** Not a `container:<id>`, by which one could enter another's network. */
const NETWORK_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

interface Created {
  readonly containerId: string;
  readonly volume: WorkVolume;
}

export interface DockerBackendOptions {
  readonly engine: DockerEngine;
  readonly owner: ContainerOwner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly killGraceMs?: number;
  /** Of processes that look after containers; by their pids when left out. */
  readonly keeperState?: (keeper: ProcessIdentity) => Promise<ProcessState>;
}

/** Runs processes each in a container of its own, `process-mcp-<id>`, which is removed with the end of the process. */
export class DockerBackend implements ProcessBackend<DockerSpec> {
  readonly mode = 'docker';
  readonly #options: DockerBackendOptions;
  readonly #volumes: WorkVolumes;
  readonly #leftovers: LeftoverContainers;
  readonly #watch: EngineWatch;
  readonly #running = new Set<DockerProcess>();
  /** Ids of processes whose containers may be there. */
  readonly #inUse = new Set<string>();
  /** What was started, so that its volume can be copied from when it has ended. */
  readonly #started = new Map<string, DockerSpec>();
  #isSwept = false;
  #isSweepDue = false;
  #isSweeping = false;
  #isDisposed = false;

  constructor(options: DockerBackendOptions) {
    this.#options = options;
    const { engine, owner, clock, logger, keeperState = processState } = options;
    this.#volumes = new WorkVolumes(engine, owner);
    const isInUse = (processId: string) => this.#inUse.has(processId);
    this.#leftovers = new LeftoverContainers({ engine, owner, logger, isInUse, keeperState });
    this.#watch = new EngineWatch({
      clock,
      running: () => this.#leftovers.running(),
      sweep: () => this.#leftovers.sweep(),
    });
  }

  async spawn(spec: DockerSpec, sink: OutputSink): Promise<ProcessHandle> {
    this.sweepOnce();
    await this.#refuse(spec);
    const created = await this.#create(spec);
    try {
      return await this.#start(spec, created, sink);
    } catch (error) {
      // A program that could not be started has removed it already; that is no error.
      await this.#remove(spec.id, created.containerId);
      throw error;
    }
  }

  /**
   * Lends the container of a process to `use`. For one that has ended, that is a new container with its volume in which nothing
   * runs, and which is removed afterwards.
   */
  async lend<T>(processId: string, use: (container: CopyContainer) => Promise<T>): Promise<T> {
    const running = [...this.#running].find((one) => one.spec.id === processId && one.status === 'running');
    if (running !== undefined) return use({ id: running.containerId, isRunning: true });
    const ended = this.#started.get(processId);
    if (ended === undefined) {
      throw new BridgeError(
        'PROCESS_NOT_RUNNING',
        `The process ${processId} has ended, and this server has not started it.`,
        'Start a process with its volume and copy from that; its volume has the name of the process.',
      );
    }
    const copyId = `copy-${randomBytes(6).toString('hex')}`;
    const { containerId } = await this.#create({ ...ended, id: copyId, volume: ended.volume ?? ended.id });
    try {
      return await use({ id: containerId, isRunning: false });
    } finally {
      await this.#remove(copyId, containerId);
    }
  }

  /** Lends the container of a process that a keeper runs: found by its name. */
  lendKept<T>(processId: string, use: (container: CopyContainer) => Promise<T>): Promise<T> {
    return use({ id: `${NAME_PREFIX}${processId}`, isRunning: true });
  }

  /** Begins to remove what servers that died have left behind, if that was not begun before. */
  sweepOnce(): void {
    if (this.#isSwept) return;
    this.#isSwept = true;
    this.sweepAgain();
  }

  /** The same whatever was begun before: of many calls during one look a single further one comes. */
  sweepAgain(): void {
    this.#isSweepDue = true;
    if (!this.#isSweeping) void this.#sweepWhileDue();
  }

  /** Removes what servers that died have left behind. */
  async sweep(): Promise<void> {
    // An engine that does not answer is asked again with the next start.
    if (!(await this.#leftovers.sweep())) this.#isSwept = false;
  }

  /** Ends every process at once and removes its container; what the engine does not get done in time, a later server sweeps. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#watch.dispose();
    const running = [...this.#running];
    // Those that the kernel ends at once keep the engine free for the others.
    const killed = await killContainersHere(
      new Set(running.filter(({ status }) => status === 'running').map(({ containerId }) => containerId)),
    );
    const ended = Promise.all(running.map((one) => one.dispose({ isKilled: killed.has(one.containerId) })));
    await withinMs(this.#options.clock, LEAVE_LIMIT_MS, ended);
    this.#options.engine.dispose();
  }

  async #sweepWhileDue(): Promise<void> {
    this.#isSweeping = true;
    while (this.#isSweepDue && !this.#isDisposed) {
      this.#isSweepDue = false;
      try {
        await this.sweep();
      } catch (error) {
        this.#options.logger.warn('Containers of dead servers could not be removed.', {
          error: messageOf(error),
        });
      }
    }
    this.#isSweeping = false;
  }

  /** Throws for what no engine need be asked about. */
  async #refuse(spec: DockerSpec): Promise<void> {
    if (spec.network !== undefined && !NETWORK_NAME.test(spec.network)) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `${JSON.stringify(spec.network)} cannot be the name of a network.`,
        'Give "bridge" or the name of a network of the engine, or leave it out for none.',
      );
    }
    if (spec.mountProject === undefined) return;
    const { address, words } = await this.#options.engine.place();
    if (isLocal(address)) return;
    throw new BridgeError(
      'SPAWN_FAILED',
      `The Docker engine at ${words} is on another machine, which does not see the folders of this one.`,
      `Start it without mount_project, and bring files in with copy_to; ${PROJECT_DIRECTORY} is not there then.`,
    );
  }

  /** The container is in use from here on, until `#remove`. */
  async #create(spec: DockerSpec): Promise<Created> {
    this.#inUse.add(spec.id);
    try {
      return await this.#make(spec);
    } catch (error) {
      this.#inUse.delete(spec.id);
      throw error;
    }
  }

  async #make(spec: DockerSpec): Promise<Created> {
    const volume = await this.#volumes.choose(spec);
    const options = containerOptions(spec, {
      name: `${NAME_PREFIX}${spec.id}`,
      labels: containerLabels(this.#options.owner, spec.id),
      volume,
    });
    const created = await this.#options.engine.call((client, abortSignal) =>
      client.createContainer({ ...options, abortSignal }),
    );
    if (created.kind === 'value') return { containerId: created.value.id, volume };
    if (created.kind === 'refused' && created.status === NO_SUCH_STATUS && /image/i.test(created.words)) {
      throw new BridgeError(
        'IMAGE_NOT_FOUND',
        `The Docker engine at ${created.engine} has no image ${JSON.stringify(spec.image)}.`,
        `Ask the user to run \`docker pull ${spec.image}\`, or name another image; the bridge pulls none by itself.`,
      );
    }
    throw refusalOf(created, `a container of ${JSON.stringify(spec.image)}`);
  }

  async #start(spec: DockerSpec, { containerId, volume }: Created, sink: OutputSink): Promise<ProcessHandle> {
    // Attached before the start, so that the first byte is not missed.
    const [attached, given] = await Promise.allSettled([
      this.#attach(containerId),
      volume.isNew ? this.#volumes.giveToAgent(containerId, spec.image) : undefined,
    ]);
    if (attached.status === 'rejected') throw attached.reason;
    try {
      if (given.status === 'rejected') throw given.reason;
      return await this.#startAttached(spec, containerId, attached.value, sink);
    } catch (error) {
      attached.value.destroy();
      throw error;
    }
  }

  async #startAttached(
    spec: DockerSpec,
    containerId: string,
    stream: Duplex,
    sink: OutputSink,
  ): Promise<ProcessHandle> {
    const { engine, clock, killGraceMs } = this.#options;
    const output = new AttachedOutput(stream, { sink, isTerminal: spec.tty !== undefined });
    const started = await engine.call(
      (client, abortSignal) => client.getContainer(containerId).start({ abortSignal }),
      START_LIMIT_MS,
    );
    if (started.kind !== 'value') throw refusalOf(started, `to start ${JSON.stringify(spec.command[0])}`);
    const process = new DockerProcess({
      spec,
      containerId,
      engine,
      clock,
      attached: stream,
      output,
      ...(killGraceMs !== undefined && { killGraceMs }),
      remove: () => this.#remove(spec.id, containerId),
    });
    this.#follow(process);
    if (spec.tty !== undefined) await process.resize(spec.tty).catch(ignoreBridgeError);
    await untilBegun({ engine, containerId, clock, seen: output.seen });
    if (output.initFault !== undefined) await process.exited;
    if (process.initFault !== undefined) throw programNotFound(spec, process.initFault);
    if (this.#isDisposed) await process.dispose();
    return process;
  }

  async #attach(containerId: string): Promise<Duplex> {
    const answer = await this.#options.engine.call(async (client, abortSignal) => {
      const stream = await client.getContainer(containerId).attach({
        ...{ stream: true, hijack: true, stdin: true, stdout: true, stderr: true },
        abortSignal,
      });
      if (stream instanceof Duplex) return stream;
      throw new Error('The engine gave no stream to attach to.');
    });
    if (answer.kind === 'value') return answer.value;
    throw refusalOf(answer, 'to attach to a container');
  }

  #follow(process: DockerProcess): void {
    this.#running.add(process);
    this.#watch.add(process);
    void process.exited.then(() => this.#watch.remove(process));
    void process.removed.then(() => this.#running.delete(process));
    this.#started.set(process.spec.id, process.spec);
    const [oldest] = this.#started.keys();
    if (this.#started.size > REMEMBERED && oldest !== undefined) this.#started.delete(oldest);
  }

  async #remove(processId: string, containerId: string): Promise<void> {
    const isGone = await this.#leftovers.remove(containerId);
    this.#inUse.delete(processId);
    if (!isGone) this.#watch.sweepLater();
  }
}

function programNotFound({ command, image }: DockerSpec, why: string): BridgeError {
  return new BridgeError(
    'PROGRAM_NOT_FOUND',
    `${JSON.stringify(command[0])} cannot be started in a container of ${JSON.stringify(image)}: ${why}.`,
    'Give a program that the image has, or another image.',
  );
}
