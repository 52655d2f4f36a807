import { randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { withinMs } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import type { OutputSink } from '../../pty/child.js';
import { KILL_GRACE_MS } from '../../pty/kill-ladder.js';
import type { ProcessBackend, ProcessHandle, ProcessSpec } from '../process-handle.js';
import { Container, NOT_THERE } from './container.js';
import { ContainerChild } from './container-child.js';
import {
  AGENT_ID,
  type DockerSpec,
  processContainer,
  PROJECT_DIRECTORY,
  WORK_DIRECTORY,
} from './container-options.js';
import { DockerProcess } from './docker-process.js';
import { refusalStatus } from './engine.js';
import {
  containerLabels,
  isVolumeOfBridge,
  type LeftoverOptions,
  sweepContainers,
  volumeLabels,
} from './leftovers.js';

const NAME_PREFIX = 'process-mcp-';
const VOLUME_PREFIX = 'process-mcp-volume-';
/** What an engine takes as a name. Not a `container:<id>`, by which one could enter another's network. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
/** An engine that hangs must not hold a server that leaves. */
const LEAVE_LIMIT_MS = 5_000;
/** Of so many processes the volume is found after their end. */
const REMEMBERED = 1_000;
/** What engines set where an image names no PATH. */
const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const MEMORY_WORDS = 'It used more memory than a container may (512 MB), and the kernel ended it.';

interface Volume {
  readonly name: string;
  readonly labels: Record<string, string>;
  /** It holds nothing yet, and may belong to root. */
  readonly isNew: boolean;
}

export interface DockerBackendOptions extends LeftoverOptions {
  /** For a process that names none. */
  readonly image: string;
  readonly killGraceMs?: number;
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

  async spawn(wanted: ProcessSpec, sink: OutputSink): Promise<ProcessHandle> {
    const spec: DockerSpec = { image: this.#options.image, ...wanted };
    this.sweepSoon();
    await this.#refuse(spec);
    const volume = await this.#volume(spec);
    const container = await this.#create(spec, volume);
    try {
      return await this.#start(spec, container, volume, sink);
    } catch (error) {
      await this.#remove(container);
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
    use: (container: Container) => Promise<T>,
  ): Promise<T> {
    const { engine } = this.#options;
    if (isRunning) return use(new Container(engine, `${NAME_PREFIX}${processId}`));
    const ended = this.#started.get(processId);
    if (ended === undefined) {
      throw new BridgeError(
        'PROCESS_NOT_RUNNING',
        `The process ${processId} has ended, and this server has not started it.`,
        'Start a process with its volume and copy from that; its volume has the name of the process.',
      );
    }
    const id = `copy-${randomBytes(6).toString('hex')}`;
    const spec = { ...ended, id, volume: ended.volume ?? ended.id };
    const container = await this.#create(spec, await this.#volume(spec));
    try {
      return await use(container);
    } finally {
      await this.#remove(container);
    }
  }

  /** Begins to remove what this process could not, and what servers that died have left behind. */
  sweepSoon(): void {
    if (this.#isDisposed || this.#isSweeping) return;
    this.#isSweeping = true;
    this.sweep()
      .catch((error: unknown) => {
        const words = { error: messageOf(error) };
        this.#options.logger.warn('Containers of dead servers could not be removed.', words);
      })
      .finally(() => (this.#isSweeping = false));
  }

  /** Removes what this process could not, and what servers that died have left behind. */
  async sweep(): Promise<void> {
    await Promise.all([...this.#left].map((container) => this.#remove(container)));
    await sweepContainers(this.#options);
  }

  /** Ends every process at once and removes its container; what the engine does not get done in time, a later server sweeps. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const { engine } = this.#options;
    const ended = Promise.all([...this.#running].map((one) => one.dispose()));
    await withinMs(engine.clock, LEAVE_LIMIT_MS, ended);
    engine.dispose();
  }

  /** Throws for what no engine need be asked about. */
  async #refuse({ network, mountProject }: DockerSpec): Promise<void> {
    if (network !== undefined && !NAME.test(network)) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `${JSON.stringify(network)} cannot be the name of a network.`,
        'Give "bridge" or the name of a network of the engine, or leave it out for none.',
      );
    }
    if (mountProject === undefined) return;
    const { isLocal, words } = await this.#options.engine.place();
    if (isLocal) return;
    throw new BridgeError(
      'SPAWN_FAILED',
      `The Docker engine at ${words} is on another machine, which does not see the folders of this one.`,
      `Start it without mount_project, and bring files in with copy_to; ${PROJECT_DIRECTORY} is not there then.`,
    );
  }

  /** The volume of a process: its own new one, or the one that was named, with or without the prefix that all of them have. */
  async #volume({ id, volume }: DockerSpec): Promise<Volume> {
    const { engine, owner } = this.#options;
    if (volume === undefined)
      return { name: `${VOLUME_PREFIX}${id}`, labels: volumeLabels(owner, false), isNew: true };
    const named = volume.startsWith(VOLUME_PREFIX) ? volume.slice(VOLUME_PREFIX.length) : volume;
    if (!NAME.test(named)) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `${JSON.stringify(volume)} cannot be the name of a volume.`,
        'Use up to 128 letters, digits, ".", "_" and "-", beginning with a letter or digit.',
      );
    }
    const name = `${VOLUME_PREFIX}${named}`;
    try {
      const { Labels } = await engine.call(`the volume ${name}`, (client, abortSignal) =>
        client.getVolume(name).inspect({ abortSignal }),
      );
      if (isVolumeOfBridge(Labels)) return { name, labels: {}, isNew: false };
    } catch (error) {
      if (refusalStatus(error) !== NOT_THERE) throw error;
      return { name, labels: volumeLabels(owner, true), isNew: true };
    }
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The volume ${name} was not made by the bridge, so it is not used.`,
      'Choose another name.',
    );
  }

  async #create(spec: DockerSpec, volume: Volume): Promise<Container> {
    const { engine, owner } = this.#options;
    const options = processContainer(spec, `${NAME_PREFIX}${spec.id}`, containerLabels(owner), volume);
    try {
      return await Container.create(engine, `a container of ${JSON.stringify(spec.image)}`, options);
    } catch (error) {
      if (refusalStatus(error) !== NOT_THERE || !/image/i.test(messageOf(error))) throw error;
      throw new BridgeError(
        'IMAGE_NOT_FOUND',
        `The Docker engine at ${(await engine.place()).words} has no image ${JSON.stringify(spec.image)}.`,
        `Ask the user to run \`docker pull ${spec.image}\`, or name another image; the bridge pulls none.`,
      );
    }
  }

  async #start(
    spec: DockerSpec,
    container: Container,
    volume: Volume,
    sink: OutputSink,
  ): Promise<ProcessHandle> {
    const { killGraceMs = KILL_GRACE_MS } = this.#options;
    await Promise.all([requireProgram(spec, container), volume.isNew && giveToAgent(container)]);
    const child = await ContainerChild.start(container, { sink, size: spec.tty, memoryWords: MEMORY_WORDS });
    const remove = () => this.#remove(container);
    const process = new DockerProcess(spec, { container, child, killGraceMs, remove });
    this.#follow(process, spec);
    if (this.#isDisposed) await process.dispose();
    return process;
  }

  #follow(process: DockerProcess, spec: DockerSpec): void {
    this.#running.add(process);
    void process.removed.then(() => this.#running.delete(process));
    this.#started.set(spec.id, spec);
    const [oldest] = this.#started.keys();
    if (this.#started.size > REMEMBERED && oldest !== undefined) this.#started.delete(oldest);
  }

  async #remove(container: Container): Promise<void> {
    if (await container.remove()) this.#left.delete(container);
    else this.#left.add(container);
  }
}

/** Gives a new volume, mounted in a container that was not started yet, to the user that will run there. */
async function giveToAgent(container: Container): Promise<void> {
  const name = posix.basename(WORK_DIRECTORY);
  const owner = { mode: 0o755, uid: AGENT_ID, gid: AGENT_ID };
  await container.put(posix.dirname(WORK_DIRECTORY), { name, type: 'directory', ...owner });
}

/** Throws PROGRAM_NOT_FOUND when the container has no such file, at the path that is given or in a folder of its PATH. */
async function requireProgram({ command: [program], cwd, image }: DockerSpec, container: Container) {
  const asked = container.ask('its variables', (one, abortSignal) => one.inspect({ abortSignal }));
  const { Env } = (await asked).Config;
  const path = Env.find((one) => one.startsWith('PATH='))?.slice('PATH='.length) ?? USUAL_PATH;
  const folders = program.includes('/') ? [''] : path.split(':');
  const isThere = (folder: string) =>
    container.pathStat(posix.resolve(cwd, folder, program)).then(
      () => true,
      (error: unknown) => refusalStatus(error) !== NOT_THERE,
    );
  if ((await Promise.all(folders.map(isThere))).includes(true)) return;
  throw new BridgeError(
    'PROGRAM_NOT_FOUND',
    `${JSON.stringify(program)} cannot be started in a container of ${JSON.stringify(image)}: there is no such file.`,
    'Give a program that the image has, or another image.',
  );
}
