import { stat } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pack } from 'tar-stream';
import type { Clock } from '../../../base/clock.js';
import { BridgeError, messageOf } from '../../../base/errors.js';
import type { AllowedRoots } from '../../../projects/allowed-roots.js';
import type { PathOpener } from '../../../projects/path-opener.js';
import {
  containerPath,
  COPY_LIMIT_MS,
  type CopyCount,
  isInside,
  refuseCopy,
  writablePath,
} from './container-path.js';
import type { Container } from '../container.js';
import { AGENT_ID, WORK_DIRECTORY } from '../container-options.js';
import { packHostTree, scanHostTree, type HostTree } from './host-tree.js';
import { unpackTree } from './unpack-tree.js';

const NO_SUCH_STATUS = 404;
const FOLDER_MODE = 0o755;
/** Bits of Go's `fs.FileMode`, in which the engine describes a path. */
const GO_DIRECTORY = 2 ** 31;
const GO_LINK = 2 ** 27;

/** A container to copy from and to: that of a process, or, when it has ended, another with its volume. */
export interface CopyContainer {
  readonly container: Container;
  readonly isRunning: boolean;
}

/** Lends the container of a process while `use` runs. */
type LendContainer = <T>(processId: string, use: (container: CopyContainer) => Promise<T>) => Promise<T>;

export interface ContainerCopiesOptions {
  readonly lend: LendContainer;
  readonly clock: Clock;
  readonly roots: AllowedRoots;
  readonly opener: PathOpener;
  /** Throws for a path of this machine at which nothing may be written. */
  readonly refuse: (path: string) => Promise<void>;
}

export interface CopyRequest {
  readonly processId: string;
  readonly source: string;
  readonly destination: string;
}

export interface CopyOutcome extends CopyCount {
  /** Where it is now. */
  readonly path: string;
  /** What was left out of a folder of this machine because it holds secrets by its name; relative to the folder. */
  readonly secrets: readonly string[];
}

/**
 * Copies files and folders between the allowed roots of this machine and a container. No links, devices or pipes in either
 * direction, nothing larger than MAX_COPY_BYTES. Paths of this machine are checked and opened as for the file tools; both
 * methods throw BridgeError.
 */
export class ContainerCopies {
  readonly #options: ContainerCopiesOptions;

  constructor(options: ContainerCopiesOptions) {
    this.#options = options;
  }

  /**
   * Puts a file or folder of this machine into a folder of the container, which is made if need be. Secrets in a folder are left
   * out; one that is named itself is copied.
   */
  async copyTo({ processId, source, destination }: CopyRequest): Promise<CopyOutcome> {
    const folder = writablePath(destination);
    const tree = await scanHostTree(this.#options.opener, source);
    return this.#options.lend(processId, async (lent) => {
      refuseOutside(lent, folder);
      return this.#put(lent, folder, tree);
    });
  }

  /** Puts a file or folder of the container into a folder of this machine, or at a new path in one. */
  async copyFrom({ processId, source, destination }: CopyRequest): Promise<CopyOutcome> {
    const from = containerPath(source);
    if (from === '/') throw refuseCopy('The root of a container cannot be copied.', 'Name a folder in it.');
    const { roots, opener, refuse } = this.#options;
    const allowed = await roots.resolve(destination);
    const isFolder = await stat(allowed).then(
      (found) => found.isDirectory(),
      () => false,
    );
    const path = isFolder ? join(allowed, basename(from)) : allowed;
    await refuse(path);
    return this.#options.lend(processId, async (lent) => {
      refuseOutside(lent, from);
      const archive = await this.#get(lent, from);
      const parent = await opener.openDirectory(dirname(path)).catch((thrown: unknown) => {
        archive.destroy();
        throw thrown;
      });
      try {
        const count = await unpackTree(archive, { parent, name: basename(path), refuse });
        return { ...count, path: join(parent.path, basename(path)), secrets: [] };
      } finally {
        await parent.handle.close();
      }
    });
  }

  async #get({ container }: CopyContainer, path: string): Promise<Readable> {
    const answer = await container.ask(async (one, abortSignal) => {
      const stream = await one.getArchive({ path, abortSignal });
      return stream instanceof Readable ? stream : new Readable().wrap(stream);
    }, COPY_LIMIT_MS);
    if (answer.kind === 'value') {
      // The engine may fall silent in the middle, too.
      const stream = answer.value;
      const limit = this.#options.clock.after(COPY_LIMIT_MS, () => stream.destroy(tooLate()));
      stream.on('close', () => limit.dispose());
      return stream;
    }
    if (answer.kind === 'unreachable') throw answer.fault;
    if (answer.status === NO_SUCH_STATUS)
      throw new BridgeError(
        'COPY_FAILED',
        `The container has no ${JSON.stringify(path)}.`,
        'Correct the path.',
      );
    throw copyFailed(answer.words);
  }

  async #put(
    { container }: CopyContainer,
    folder: string,
    { entries, secrets, count }: HostTree,
  ): Promise<CopyOutcome> {
    const { existing, missing } = await deepest(container, folder);
    const archive = pack();
    const owner = { mode: FOLDER_MODE, uid: AGENT_ID, gid: AGENT_ID };
    missing.forEach((_, at) =>
      archive.entry({ ...owner, name: missing.slice(0, at + 1).join('/'), type: 'directory' }),
    );
    const { opener } = this.#options;
    const prefix = missing.map((part) => `${part}/`).join('');
    const packed = packHostTree(archive, entries, { opener, prefix }).then(
      () => archive.finalize(),
      (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(messageOf(error))),
    );
    const body = new PassThrough();
    archive.on('error', (error) => body.destroy(error));
    const answer = await container.ask(
      (one, abortSignal) => one.putArchive(archive.pipe(body), { path: existing, abortSignal }),
      COPY_LIMIT_MS,
    );
    archive.destroy();
    body.destroy();
    await packed;
    if (answer.kind === 'unreachable') throw answer.fault;
    if (answer.kind === 'refused') throw copyFailed(answer.words);
    return { ...count, path: posix.join(folder, entries[0]?.name ?? ''), secrets };
  }
}

/** The deepest folder of a path that exists, after links, and the names that are missing below it. */
async function deepest(
  container: Container,
  folder: string,
): Promise<{ readonly existing: string; readonly missing: readonly string[] }> {
  const missing: string[] = [];
  for (let at = folder; ; at = posix.dirname(at)) {
    const found = await container.pathStat(at);
    if (found.kind === 'unreachable') throw found.fault;
    // 404, or 500 for a path below a file: nothing is there in either case.
    if (found.kind === 'refused') {
      if (at === '/') throw copyFailed('the container has no root folder');
      missing.unshift(posix.basename(at));
      continue;
    }
    const { mode, linkTarget } = found.value;
    const isLink = Math.floor(mode / GO_LINK) % 2 === 1;
    if (isLink) {
      throw refuseCopy(
        `${JSON.stringify(at)} is a link to ${JSON.stringify(linkTarget)}.`,
        'Name its target.',
      );
    }
    if (mode < GO_DIRECTORY) throw refuseCopy(`${JSON.stringify(at)} is not a folder.`, 'Name a folder.');
    return { existing: at, missing };
  }
}

/** With a system's code, so that it is reported as a copy that failed. */
function tooLate(): Error {
  return Object.assign(new Error(`it took more than ${COPY_LIMIT_MS / 1000} s`), { code: 'ETIMEDOUT' });
}

/** Of a process that has ended nothing is left but its volume: throws COPY_REFUSED for what is not in it. */
function refuseOutside({ isRunning }: CopyContainer, path: string): void {
  if (isRunning || isInside(path, WORK_DIRECTORY)) return;
  throw refuseCopy(
    `The process has ended, and of its container only ${WORK_DIRECTORY} is left; ${JSON.stringify(path)} is elsewhere.`,
    `Name a path below ${WORK_DIRECTORY}.`,
  );
}

function copyFailed(words: string): BridgeError {
  return new BridgeError(
    'COPY_FAILED',
    `The Docker engine could not copy: ${words}`,
    'Correct the paths, or try again.',
  );
}
