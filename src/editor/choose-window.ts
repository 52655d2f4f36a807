// Pure: which window of the editor has a folder open.
import { isWithin } from '../projects/path-in-project.js';

/** A window with the real paths of its folders. */
export interface OpenFolders {
  readonly folders: readonly string[];
}

/** Those in which `path` is open, the one with the innermost folder first; of two such the order stays. */
export function windowsWith<Window extends OpenFolders>(windows: readonly Window[], path: string): Window[] {
  return windows
    .map((window) => ({ window, depth: depthOf(window, path) }))
    .filter(({ depth }) => depth > 0)
    .sort((a, b) => b.depth - a.depth)
    .map(({ window }) => window);
}

/** The length of the innermost folder that holds the path; 0 without one. */
function depthOf({ folders }: OpenFolders, path: string): number {
  return Math.max(0, ...folders.filter((folder) => isWithin(path, folder)).map((folder) => folder.length));
}
