import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { withinMs, type Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { OutputSink } from '../../pty/child.js';
import { processState, type ProcessState } from '../../store/process-identity.js';
import type { ProcessIdentity } from '../../store/process-place.js';
import type { ProcessBackend, ProcessHandle } from '../process-handle.js';
import { ContainerChild } from './container-child.js';
import { containerLabels, type ContainerOwner, sweepContainers } from './leftover-containers.js';
import {
  containerOptions,
  type DockerOptions,
  type DockerSpec,
  PROJECT_DIRECTORY,
} from './container-options.js';
import { Container } from './container.js';
import type { CopyContainer } from './copies/container-copies.js';
import { DockerProcess } from './docker-process.js';
import { refusalOf, type DockerEngine } from './engine/docker-engine.js';
import { chooseVolume, giveToAgent, type WorkVolume } from './work-volume.js';

const NAME_PREFIX = 'process-mcp-';
const NO_SUCH_STATUS = 404;
/** An engine that hangs must not hold a server that leaves. */
const LEAVE_LIMIT_MS = 5_000;
/** Of so many processes the volume is found after their end. */
const REMEMBERED = 1_000;
/** Not a `container:<id>`, by which one could enter another's network. */
const NETWORK_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
/** What engines set where an image names no PATH. */
const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MEMORY_WORDS = 'It used more memory than a container may (512 MB), and the kernel ended it.';

interface Created {
  readonly container: Container;
  readonly volume: WorkVolume;
}

export interface DockerBackendOptions {
  readonly engine: DockerEngine;
  readonly owner: ContainerOwner;
  /** For a process that names none. */
  readonly image: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly killGraceMs?: number;
  /** Of processes that look after containers; by their pids when left out. */
  readonly keeperState?: (keeper: ProcessIdentity) => Promise<ProcessState>;
}

/** Runs processes each in a container of its own, `process-mcp-<id>`, which is removed with the end of the process. */
export class DockerBackend implements ProcessBackend {
  readonly #options: DockerBackendOptions;
  readonly #running = new Set<DockerProcess>();
  /** Containers that could not be removed, while the engine was away. */
  readonly #left = new Set<Container>();
  /** What was started, so that its volume can be copied from when it has ended. */
  readonly #started = new Map<string, DockerSpec>();
  #isSweeping = false;
  #isDisposed = false;

  constructor(options: DockerBackendOptions) {
    this.#options = options;
  }

  async spawn(options: DockerOptions, sink: OutputSink): Promise<ProcessHandle> {
    const spec: DockerSpec = { image: this.#options.image, ...options };
    this.sweepSoon();
    await this.#refuse(spec);
    const created = await this.#create(spec);
    try {
      return await this.#start(spec, created, sink);
    } catch (error) {
      await this.#remove(created.container);
      throw error;
    }
  }

  /**
   * Lends the container of a process to `use`. For one that has ended, that is a new container with its volume in which nothing
   * runs, and which is removed afterwards.
   */
  async lend<T>(
    processId: string,
    isRunning: boolean,
    use: (container: CopyContainer) => Promise<T>,
  ): Promise<T> {
    if (isRunning) return use({ container: this.#container(`${NAME_PREFIX}${processId}`), isRunning });
    const ended = this.#started.get(processId);
    if (ended === undefined) {
      throw new BridgeError(
        'PROCESS_NOT_RUNNING',
        `The process ${processId} has ended, and this server has not started it.`,
        'Start a process with its volume and copy from that; its volume has the name of the process.',
      );
    }
    const copyId = `copy-${randomBytes(6).toString('hex')}`;
    const { container } = await this.#create({ ...ended, id: copyId, volume: ended.volume ?? ended.id });
    try {
      return await use({ container, isRunning });
    } finally {
      await this.#remove(container);
    }
  }

  /** Begins to remove what this process could not, and what servers that died have left behind. */
  sweepSoon(): void {
    if (this.#isDisposed || this.#isSweeping) return;
    this.#isSweeping = true;
    this.sweep()
      .catch((error: unknown) =>
        this.#options.logger.warn('Containers of dead servers could not be removed.', {
          error: messageOf(error),
        }),
      )
      .finally(() => (this.#isSweeping = false));
  }

  /** Removes what this process could not, and what servers that died have left behind. */
  async sweep(): Promise<void> {
    const { keeperState = processState, ...options } = this.#options;
    await Promise.all([...this.#left].map((container) => this.#remove(container)));
    await sweepContainers({ ...options, keeperState });
  }

  /** Ends every process at once and removes its container; what the engine does not get done in time, a later server sweeps. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const ended = Promise.all([...this.#running].map((one) => one.dispose()));
    await withinMs(this.#options.clock, LEAVE_LIMIT_MS, ended);
    this.#options.engine.dispose();
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
    const { isLocal, words } = await this.#options.engine.place();
    if (isLocal) return;
    throw new BridgeError(
      'SPAWN_FAILED',
      `The Docker engine at ${words} is on another machine, which does not see the folders of this one.`,
      `Start it without mount_project, and bring files in with copy_to; ${PROJECT_DIRECTORY} is not there then.`,
    );
  }

  async #create(spec: DockerSpec): Promise<Created> {
    const { engine, owner } = this.#options;
    const volume = await chooseVolume(engine, owner, spec);
    const options = containerOptions(spec, {
      name: `${NAME_PREFIX}${spec.id}`,
      labels: containerLabels(owner, spec.id),
      volume,
    });
    const created = await engine.call((client, abortSignal) =>
      client.createContainer({ ...options, abortSignal }),
    );
    if (created.kind === 'value') return { container: this.#container(created.value.id), volume };
    if (created.kind === 'refused' && created.status === NO_SUCH_STATUS && /image/i.test(created.words)) {
      throw new BridgeError(
        'IMAGE_NOT_FOUND',
        `The Docker engine at ${created.engine} has no image ${JSON.stringify(spec.image)}.`,
        `Ask the user to run \`docker pull ${spec.image}\`, or name another image; the bridge pulls none by itself.`,
      );
    }
    throw refusalOf(created, `a container of ${JSON.stringify(spec.image)}`);
  }

  async #start(spec: DockerSpec, { container, volume }: Created, sink: OutputSink): Promise<ProcessHandle> {
    const [attached] = await Promise.all([
      container.attach(),
      requireProgram(spec, container),
      volume.isNew ? giveToAgent(container) : undefined,
    ]);
    if (attached.kind !== 'value') throw refusalOf(attached, 'to attach to a container');
    const stream = attached.value;
    const started = await container.start();
    if (started.kind !== 'value') {
      stream.destroy();
      throw refusalOf(started, `to start ${JSON.stringify(spec.command[0])}`);
    }
    const isTerminal = spec.tty !== undefined;
    const process = new DockerProcess({
      spec,
      container,
      child: new ContainerChild(container, { stream, sink, isTerminal, memoryWords: MEMORY_WORDS }),
      killGraceMs: this.#options.killGraceMs,
      remove: () => this.#remove(container),
    });
    this.#follow(process);
    // Its end is reported by the process itself.
    if (spec.tty !== undefined) await container.resize(spec.tty);
    if (this.#isDisposed) await process.dispose();
    return process;
  }

  #container(id: string): Container {
    return new Container(this.#options.engine, id, this.#options.clock);
  }

  #follow(process: DockerProcess): void {
    this.#running.add(process);
    void process.removed.then(() => this.#running.delete(process));
    this.#started.set(process.spec.id, process.spec);
    const [oldest] = this.#started.keys();
    if (this.#started.size > REMEMBERED && oldest !== undefined) this.#started.delete(oldest);
  }

  async #remove(container: Container): Promise<void> {
    if (await container.remove()) this.#left.delete(container);
    else this.#left.add(container);
  }
}

/** Throws PROGRAM_NOT_FOUND when the container has no such file, at the path that is given or in a folder of its PATH. */
async function requireProgram({ command: [program], cwd, image }: DockerSpec, container: Container) {
  const asked = await container.ask((one, abortSignal) => one.inspect({ abortSignal }));
  // The start says what is wrong.
  if (asked.kind !== 'value') return;
  const path = asked.value.Config.Env.find((one) => one.startsWith('PATH='))?.slice('PATH='.length);
  const folders = program.includes('/') ? [''] : (path ?? USUAL_PATH).split(':');
  const found = await Promise.all(
    folders.map((folder) => container.pathStat(posix.resolve(cwd, folder, program))),
  );
  if (found.some((one) => one.kind !== 'refused' || one.status !== NO_SUCH_STATUS)) return;
  throw new BridgeError(
    'PROGRAM_NOT_FOUND',
    `${JSON.stringify(program)} cannot be started in a container of ${JSON.stringify(image)}: there is no such file.`,
    'Give a program that the image has, or another image.',
  );
}
