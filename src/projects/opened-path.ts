import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { AllowedPath } from './allowed-roots.js';

/** An open file or directory, so that the one that was checked is the one that is used. The code that opened it must close it. */
export interface OpenedPath {
  /** Its real path, from its descriptor. */
  readonly path: AllowedPath;
  readonly handle: FileHandle;
  readonly stats: BigIntStats;
}

/** An open directory with access to its entries. */
export interface OpenedDirectory extends OpenedPath {
  /**
   * A path to the entry `name` in this directory, even if the directory was replaced meanwhile. `name` contains no `/`. On
   * systems without descriptor paths it is the ordinary path.
   */
  entry(name: string): string;
}

/** `/proc/self/fd/<n>` follows the descriptor, not a path, so no other file can replace the target. */
export function descriptorPath(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

/** Adds access to the entries, through the descriptor if `hasDescriptorPaths`. */
export function asDirectory(opened: OpenedPath, hasDescriptorPaths: boolean): OpenedDirectory {
  const base = hasDescriptorPaths ? descriptorPath(opened.handle) : opened.path;
  return { ...opened, entry: (name) => join(base, name) };
}
