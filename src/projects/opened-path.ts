import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import type { AllowedPath } from './allowed-roots.js';
import type { OpenHandle } from './open-handle.js';

/** A file or directory that is held open, so that what was judged is what is used. Whoever opens it closes it. */
export interface OpenedPath {
  /** Where it really lies, as its descriptor says. */
  readonly path: AllowedPath;
  readonly handle: OpenHandle;
  readonly stats: BigIntStats;
  /** True when its file system is known to be one of this machine's own: what is asked of it is answered at once. */
  readonly isNear: boolean;
}

/** An open directory, and the names in it. */
export interface OpenedDirectory extends OpenedPath {
  /**
   * A path to the entry `name` of this very directory, wherever its own path leads by now; `name` is one name, without `/`.
   * On systems without descriptor paths it is the plain path.
   */
  entry(name: string): string;
}

/** `/proc/self/fd/<n>` follows the descriptor itself, not a path, so nothing can be put in its place. */
export function descriptorPath(handle: OpenHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

/** The names in an open directory, by way of its descriptor where `hasDescriptorPaths`. */
export function asDirectory(opened: OpenedPath, hasDescriptorPaths: boolean): OpenedDirectory {
  const base = hasDescriptorPaths ? descriptorPath(opened.handle) : opened.path;
  return { ...opened, entry: (name) => join(base, name) };
}
