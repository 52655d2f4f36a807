import { constants, fstat, fstatSync, openSync, readlinkSync, type BigIntStats } from 'node:fs';
import { lstat, readlink, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import type { AllowedPath, AllowedRoots } from './allowed-roots.js';
import { asDirectory, descriptorPath, type OpenedDirectory, type OpenedPath } from './opened-path.js';
import { NearDevices } from './near-devices.js';
import { DescriptorHandle } from './open-handle.js';
import { isWithin } from './walk-path.js';

/** Linux: a descriptor that only names a place. Nothing is opened by it, so no pipe waits and no device wakes (open(2)). */
const O_PATH = 0o10000000;
/** macOS: refuses a link anywhere in the path, not only at its end (open(2), macOS 11). */
const O_NOFOLLOW_ANY = 0x20000000;
/** Should a FIFO or a terminal come to be opened after all, it neither waits nor becomes ours. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
/** A path that changes while it is opened is tried again; one that always changes is somebody's game. */
const MAX_TRIES = 8;
const SHOWN_CHARS = 400;
/** What lies there is made up by the kernel: without size, without end, or with effects. */
const KERNEL_FOLDERS = ['/proc', '/sys'];
/** proc, sysfs, debugfs, tracefs, cgroup, cgroup2 (statfs(2)), wherever they are mounted. */
const KERNEL_FILE_SYSTEMS = new Set([0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x27e0eb, 0x63677270]);

type Wanted = 'file' | 'directory' | 'either';

/**
 * Opens paths inside the allowed roots. On Linux the path is opened first, then judged by where the descriptor really
 * lies, and used through that descriptor: a path swapped for a link between the two leads nowhere. macOS has no descriptor
 * paths for Node: there the judged path is opened with links refused and is judged again afterwards.
 *
 * All methods throw as `AllowedRoots.resolve`, and PATH_NOT_FOUND, NOT_A_FILE, NOT_A_DIRECTORY, NOT_READABLE, FILE_CHANGED.
 */
export class PathOpener {
  readonly #roots: AllowedRoots;
  /** True where `/proc/self/fd` names what a descriptor holds. */
  readonly hasDescriptorPaths: boolean;
  readonly #near = new NearDevices();

  constructor(roots: AllowedRoots, platform: NodeJS.Platform = process.platform) {
    this.#roots = roots;
    this.hasDescriptorPaths = platform === 'linux';
  }

  /** A regular file, open for reading. */
  async openFile(input: string): Promise<OpenedPath> {
    return this.#open(input, 'file');
  }

  /** A directory; on Linux its descriptor names it and cannot be read from: list it by `entry('.')`. */
  async openDirectory(input: string): Promise<OpenedDirectory> {
    return asDirectory(await this.#open(input, 'directory'), this.hasDescriptorPaths);
  }

  /** A regular file (open for reading) or a directory. */
  async openEither(input: string): Promise<OpenedPath> {
    return this.#open(input, 'either');
  }

  /** The directory `name` in `parent`; undefined when it is missing, a link, or anything else. */
  async directoryIn(parent: OpenedDirectory, name: string): Promise<OpenedDirectory | undefined> {
    const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const handle = await openOr(
      parent.entry(name),
      this.hasDescriptorPaths ? O_PATH | flags : READ_FLAGS | flags,
    );
    if (typeof handle === 'string') return undefined;
    return closing(handle, async () => {
      const real = this.hasDescriptorPaths ? await readlink(descriptorPath(handle)) : join(parent.path, name);
      const path = await this.#roots.admit(real);
      if (path === undefined) return undefined;
      const opened = { path, handle, stats: await statsOf(handle), isNear: false };
      return asDirectory(opened, this.hasDescriptorPaths);
    });
  }

  async #open(input: string, wanted: Wanted): Promise<OpenedPath> {
    this.#roots.requireSome();
    const absolute = this.#roots.absolute(input);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const opened = this.hasDescriptorPaths
        ? await this.#openByDescriptor(absolute, input, wanted)
        : await this.#openByPath(input, wanted);
      if (opened !== undefined) return opened;
    }
    throw new BridgeError(
      'FILE_CHANGED',
      `Path '${shown(input)}' changes again and again while it is opened.`,
      'Find out what replaces it, or try again later.',
    );
  }

  /** Undefined when something changed meanwhile. */
  async #openByDescriptor(absolute: string, input: string, wanted: Wanted): Promise<OpenedPath | undefined> {
    const looking = this.#roots.look();
    const place = await openOr(absolute, O_PATH);
    const admit = await looking;
    if (typeof place === 'string') {
      await this.#explain(input, place);
      return undefined;
    }
    place.becomeNear();
    let isKept = false;
    try {
      // What is asked of a descriptor the kernel knows: no trip through the thread pool, which takes longer than the answer.
      const real = readlinkSync(descriptorPath(place));
      const stats = fstatSync(place.fd, { bigint: true });
      const path = admit(real);
      if (path === undefined) {
        // Throws, unless the path leads inside by now.
        await this.#roots.resolve(input);
        return undefined;
      }
      // Removed or replaced since it was opened: its descriptor has no path that could be judged.
      if (stats.nlink === 0n && real.endsWith(' (deleted)')) return undefined;
      const isNear = this.#near.has(descriptorPath(place), stats.dev);
      await refuseUnwanted(descriptorPath(place), { path, stats, input, wanted, isNear });
      if (stats.isDirectory()) {
        isKept = true;
        return { path, handle: place, stats, isNear };
      }
      const handle = await (isNear ? openNow : openOr)(descriptorPath(place), READ_FLAGS);
      if (typeof handle === 'string') throw notReadable(input, handle);
      return { path, handle, stats, isNear };
    } finally {
      if (!isKept) await place.close();
    }
  }

  async #openByPath(input: string, wanted: Wanted): Promise<OpenedPath | undefined> {
    const path = await this.#roots.resolve(input);
    const before = await lstat(path, { bigint: true }).catch(codeOrThrow);
    if (typeof before === 'string') {
      if (before === 'ENOENT' || before === 'ENOTDIR') throw notFound(input);
      throw notReadable(input, before);
    }
    if (before.isSymbolicLink()) return undefined;
    await refuseUnwanted(path, { path, stats: before, input, wanted, isNear: false });
    const handle = await openOr(path, READ_FLAGS | O_NOFOLLOW_ANY | constants.O_NOFOLLOW);
    if (typeof handle === 'string') {
      if (handle === 'EACCES' || handle === 'EPERM') throw notReadable(input, handle);
      return undefined;
    }
    return closing(handle, async () => {
      const stats = await statsOf(handle);
      const again = await this.#roots.resolve(input);
      const isSame = again === path && stats.dev === before.dev && stats.ino === before.ino;
      return isSame ? { path, handle, stats, isNear: false } : undefined;
    });
  }

  /** Throws what there is to say of a path that could not be opened; returns when it can be by now. */
  async #explain(input: string, code: string): Promise<void> {
    const path = await this.#roots.resolve(input);
    const now = await lstat(path).catch(codeOrThrow);
    if (now === 'ENOENT' || now === 'ENOTDIR') throw notFound(input);
    if (typeof now === 'string' || code === 'EACCES') throw notReadable(input, code);
  }
}

async function refuseUnwanted(
  place: string,
  found: {
    readonly path: AllowedPath;
    readonly stats: BigIntStats;
    readonly input: string;
    readonly wanted: Wanted;
    readonly isNear: boolean;
  },
): Promise<void> {
  const { path, stats, input, wanted, isNear } = found;
  if (stats.isDirectory()) {
    if (wanted !== 'file') return;
    const hint = 'Give the path of a file; list_files shows what is in a directory.';
    throw new BridgeError('NOT_A_FILE', `Path '${shown(input)}' is a directory.`, hint);
  }
  if (wanted === 'directory') {
    const message = `Path '${shown(input)}' is not a directory.`;
    throw new BridgeError('NOT_A_DIRECTORY', message, 'Give the path of a directory.');
  }
  const isMade = specialKind(stats) === undefined && !isNear && (await isMadeUp(place, path, stats));
  const kind = specialKind(stats) ?? (isMade ? 'made up by the kernel' : undefined);
  if (kind === undefined) return;
  throw new BridgeError(
    'NOT_A_FILE',
    `Path '${shown(input)}' is ${kind}, not a regular file.`,
    'Only regular files are read and written.',
  );
}

function specialKind(stats: BigIntStats): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return stats.isCharacterDevice() || stats.isBlockDevice() ? 'a device' : 'something else';
}

async function isMadeUp(place: string, path: string, stats: BigIntStats): Promise<boolean> {
  if (KERNEL_FOLDERS.some((folder) => isWithin(path, folder))) return true;
  if (stats.size > 0n) return false;
  return KERNEL_FILE_SYSTEMS.has((await statfs(place)).type);
}

function notFound(input: string): BridgeError {
  const hint = 'Correct the path; list_files shows what is there.';
  return new BridgeError('PATH_NOT_FOUND', `Path '${shown(input)}' does not exist.`, hint);
}

function notReadable(input: string, code: string): BridgeError {
  const message = `Path '${shown(input)}' cannot be read: ${code}.`;
  return new BridgeError('NOT_READABLE', message, 'Ask the user to change its permissions.');
}

function shown(path: string): string {
  return oneLine(path, SHOWN_CHARS);
}

/** The open file, or the system's code. */
async function openOr(path: string, flags: number): Promise<DescriptorHandle | string> {
  return DescriptorHandle.open(path, flags).catch(codeOrThrow);
}

/** As `openOr`, here and now. */
function openNow(path: string, flags: number): DescriptorHandle | string {
  try {
    return new DescriptorHandle(openSync(path, flags), true);
  } catch (thrown) {
    return codeOrThrow(thrown);
  }
}

async function statsOf({ fd }: DescriptorHandle): Promise<BigIntStats> {
  return promisify(fstat)(fd, { bigint: true });
}

/** A lack of descriptors or memory says nothing about the path and goes on its way. */
function codeOrThrow(thrown: unknown): string {
  const code = systemCodeOf(thrown);
  if (code === undefined || code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM') throw thrown;
  return code;
}

/** What `use` makes of the handle; the handle is closed when that is nothing. */
async function closing<T>(
  handle: DescriptorHandle,
  use: () => Promise<T | undefined>,
): Promise<T | undefined> {
  let made: T | undefined;
  try {
    made = await use();
    return made;
  } finally {
    if (made === undefined) await handle.close();
  }
}
