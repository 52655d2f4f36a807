import { readFileSide, type FileSideQuery } from '../git/diff/file-side.js';
import { readFilesPatch, type FilesPatchQuery } from '../git/diff/files-patch.js';
import { gitRunner } from '../git/run/run-git.js';
import type { TakeChunk } from '../os/run-program.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import { gitContext } from './git-context.js';
import type { BridgeOptions } from './options.js';

/** Passes the patch of files on; throws as `readFilesPatch`. */
export type FilesPatches = (query: FilesPatchQuery, take: TakeChunk, signal: AbortSignal) => Promise<void>;

export function createFilesPatches(options: BridgeOptions, roots: AllowedRoots): FilesPatches {
  const parts = { roots, runner: gitRunner(gitContext(options)) };
  return (query, take, signal) => readFilesPatch(parts, query, take, signal);
}

/** The bytes of one file of a patch; throws as `readFileSide`. */
export type FileSides = (query: FileSideQuery, signal: AbortSignal) => Promise<Buffer | undefined>;

export function createFileSides(options: BridgeOptions, roots: AllowedRoots): FileSides {
  const parts = { roots, runner: gitRunner(gitContext(options)), opener: new PathOpener(roots) };
  return (query, signal) => readFileSide(parts, query, signal);
}
