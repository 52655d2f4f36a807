import type { Dirent } from 'node:fs';

export type EntryType = 'file' | 'directory' | 'symlink' | 'other';

/** A name in a folder and what it stands for. */
export interface WalkEntry {
  readonly name: string;
  readonly type: EntryType;
  readonly isFolder: boolean;
}

export function walkEntry(entry: Dirent): WalkEntry {
  const type = typeOf(entry);
  return { name: entry.name, type, isFolder: type === 'directory' };
}

export function typeOf(entry: Dirent): EntryType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}
