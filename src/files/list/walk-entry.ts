import type { Dirent } from 'node:fs';
import type { OrderedName } from './list-order.js';

export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

/** A name in a folder and its type. */
export interface WalkEntry extends OrderedName {
  readonly type: EntryType;
}

export function walkEntry(entry: Dirent): WalkEntry {
  const { name } = entry;
  const type = typeOf(entry);
  return { name, lower: name.toLowerCase(), type, isFolder: type === 'directory' };
}

export function typeOf(entry: Dirent): EntryType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}
