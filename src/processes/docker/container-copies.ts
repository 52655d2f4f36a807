import { stat } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pack } from 'tar-stream';
import { BridgeError, messageOf } from '../../base/errors.js';
import type { AllowedRoots } from '../../projects/allowed-roots.js';
import type { PathOpener } from '../../projects/path-opener.js';
import { type Container, NOT_THERE } from './container.js';
import { AGENT_ID, WORK_DIRECTORY } from './container-options.js';
import {
  containerPath,
  COPY_LIMIT_MS,
  type CopyCount,
  isInside,
  refuseCopy,
  writablePath,
} from './copy-rules.js';
import { refusalStatus } from './engine.js';
import { HostTree } from './host-tree.js';
import { unpackTree } from './unpack-tree.js';

/** Bits of Go's `fs.FileMode`, in which the engine describes a path. */
const GO_DIRECTORY = 2 ** 31;
const GO_LINK = 2 ** 27;

export interface ContainerCopiesOptions {
  /**
   * Lends the container of a process while `use` runs; `isRunning` is false for another one with the volume of a process that has
   * ended. Throws for a process that has none.
   */
  readonly lend: <T>(
    processId: string,
    use: (container: Container, isRunning: boolean) => Promise<T>,
  ) => Promise<T>;
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

export interface CopyOutcome extends Readonly<Pick<CopyCount, 'files' | 'folders' | 'bytes'>> {
  /** Where it is now. */
  readonly path: string;
  /** What was left out of a folder of this machine because it holds secrets by its name; relative to the folder. */
  readonly secrets: readonly string[];
}

/**
 * Copies files and folders between the allowed roots of this machine and a container. No links, devices or pipes in either
 * direction, and no more than the rules allow. Paths of this machine are checked and opened as for the file tools; both methods
 * throw BridgeError.
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
    const tree = await HostTree.scan(this.#options.opener, source);
    return this.#options.lend(processId, async (container, isRunning) => {
      if (!isRunning) refuseOutside(folder);
      await put(container, folder, tree);
      const { count, secrets, entries } = tree;
      return { ...count, secrets, path: posix.join(folder, entries[0]?.name ?? '') };
    });
  }

  /** Puts a file or folder of the container into a folder of this machine, or at a new path in one. */
  async copyFrom({ processId, source, destination }: CopyRequest): Promise<CopyOutcome> {
    const from = containerPath(source);
    if (from === '/') throw refuseCopy('The root of a container cannot be copied.', 'Name a folder in it.');
    const { roots, opener, refuse, lend } = this.#options;
    const allowed = await roots.resolve(destination);
    const facts = await stat(allowed).catch(() => undefined);
    const path = facts?.isDirectory() === true ? join(allowed, basename(from)) : allowed;
    await refuse(path);
    return lend(processId, async (container, isRunning) => {
      if (!isRunning) refuseOutside(from);
      const parent = await opener.openDirectory(dirname(path));
      try {
        const archive = await get(container, from);
        const count = await unpackTree(archive, { parent, name: basename(path), refuse });
        return { ...count, path: join(parent.path, basename(path)), secrets: [] };
      } finally {
        await parent.handle.close();
      }
    });
  }
}

async function get(container: Container, path: string): Promise<Readable> {
  const answer = await container
    .ask(`to copy ${path}`, (one, abortSignal) => one.getArchive({ path, abortSignal }), COPY_LIMIT_MS)
    .catch((error: unknown) => {
      const isMissing = refusalStatus(error) === NOT_THERE;
      throw isMissing ? copyFailed(`the container has no ${JSON.stringify(path)}`) : failureOf(error);
    });
  const stream = answer instanceof Readable ? answer : new Readable().wrap(answer);
  // The engine may fall silent in the middle, too. With a system's code, so that it is reported as a copy that failed.
  const late = Object.assign(new Error(`it took more than ${COPY_LIMIT_MS / 1000} s`), { code: 'ETIMEDOUT' });
  const limit = container.engine.clock.after(COPY_LIMIT_MS, () => stream.destroy(late));
  return stream.on('close', () => limit.dispose());
}

async function put(container: Container, folder: string, tree: HostTree): Promise<void> {
  const { existing, missing } = await deepest(container, folder);
  const archive = pack();
  const owner = { mode: 0o755, uid: AGENT_ID, gid: AGENT_ID };
  for (const at of missing.keys())
    archive.entry({ ...owner, name: missing.slice(0, at + 1).join('/'), type: 'directory' });
  const packed = tree.pack(archive, missing.map((part) => `${part}/`).join('')).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(messageOf(error))),
  );
  const body = new PassThrough();
  archive.on('error', (error) => body.destroy(error));
  try {
    await container.ask(
      `to copy to ${existing}`,
      (one, abortSignal) => one.putArchive(archive.pipe(body), { path: existing, abortSignal }),
      COPY_LIMIT_MS,
    );
  } catch (error) {
    throw failureOf(error);
  } finally {
    archive.destroy();
    body.destroy();
    await packed;
  }
}

/** The deepest folder of a path that exists, and the names that are missing below it. Throws COPY_REFUSED for links. */
async function deepest(
  container: Container,
  folder: string,
): Promise<{ readonly existing: string; readonly missing: readonly string[] }> {
  const missing: string[] = [];
  for (let at = folder; ; at = posix.dirname(at)) {
    const found = await container.pathStat(at).catch((error: unknown) => {
      // 404, or 500 for a path below a file: nothing is there in either case.
      if (refusalStatus(error) === undefined || at === '/') throw failureOf(error);
      missing.unshift(posix.basename(at));
      return undefined;
    });
    if (found === undefined) continue;
    const { mode, linkTarget } = found;
    const shown = JSON.stringify(at);
    if (Math.floor(mode / GO_LINK) % 2 === 1)
      throw refuseCopy(`${shown} is a link to ${JSON.stringify(linkTarget)}.`, 'Name its target.');
    if (mode < GO_DIRECTORY) throw refuseCopy(`${shown} is not a folder.`, 'Name a folder.');
    return { existing: at, missing };
  }
}

/** Of a process that has ended nothing is left but its volume: throws COPY_REFUSED for what is not in it. */
function refuseOutside(path: string): void {
  if (isInside(path, WORK_DIRECTORY)) return;
  throw refuseCopy(
    `The process has ended, and of its container only ${WORK_DIRECTORY} is left; ${JSON.stringify(path)} is elsewhere.`,
    `Name a path below ${WORK_DIRECTORY}.`,
  );
}

/** A refusal of the engine as COPY_FAILED; any other error as it is. */
function failureOf(error: unknown): unknown {
  return refusalStatus(error) === undefined ? error : copyFailed(messageOf(error));
}

function copyFailed(words: string): BridgeError {
  return new BridgeError('COPY_FAILED', `The copy failed: ${words}.`, 'Correct the paths, or try again.');
}
