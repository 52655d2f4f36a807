import { isAbsolute, join } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import type { PathOpener } from '../../projects/path-opener.js';
import { treeIfAny } from '../revision.js';
import { checkStores } from '../run/object-stores.js';
import { repositoryAt } from '../run/repository.js';
import { gitWith, type RepositoryGit } from '../run/repository-git.js';
import { queryCall, type FilesPatchParts, type FilesPatchQuery } from './files-patch.js';

export interface FileSideParts extends FilesPatchParts {
  readonly opener: PathOpener;
}

export interface FileSideQuery extends FilesPatchQuery {
  /** Relative to the top, as that side has it: a renamed file has its old name on the old side. */
  readonly file: string;
  readonly side: 'old' | 'new';
  readonly maxBytes: number;
}

/**
 * The bytes of one file of a patch, before or after it; undefined when that side does not have the file. Runs no programs of the
 * repository. Throws NOT_A_REPOSITORY, INVALID_ARGUMENTS for a file that is not in the patch, FILE_TOO_LARGE, and the errors of
 * PathOpener and git.
 */
export async function readFileSide(
  { roots, runner, opener }: FileSideParts,
  query: FileSideQuery,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const { side, base, end, file } = query;
  checkName(file);
  const repository = await repositoryAt(roots, query.repository);
  await checkStores(roots, repository);
  const git = gitWith(runner, await queryCall(runner, repository, query, signal));
  if (side === 'old') return base === null ? undefined : fileOfCommit(git, base, query);
  if (end !== undefined) {
    const tree = await treeIfAny(git, end);
    return tree === undefined ? undefined : fileOfCommit(git, tree, query);
  }
  // Of a working tree only what the patch has: it holds files that git ignores, too.
  if (query.files?.includes(file) !== true) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'The file is not one that changed.',
      'Read the changes again.',
    );
  }
  return fileOnDisk(opener, join(repository.top, file), query.maxBytes);
}

function checkName(file: string): void {
  if (!isAbsolute(file) && !file.split('/').includes('..') && !file.includes('\0')) return;
  throw new BridgeError('INVALID_ARGUMENTS', 'The file is not in the repository.', 'Read the changes again.');
}

async function fileOfCommit(
  git: RepositoryGit,
  commit: string,
  { file, maxBytes }: FileSideQuery,
): Promise<Buffer | undefined> {
  const name = `${commit}:${file}`;
  const { code, bytes } = await git.output(['cat-file', '-s', name], { okCodes: [0, 128] });
  if (code !== 0) return undefined;
  checkSize(Number(bytes.toString('latin1')), maxBytes);
  const chunks: Buffer[] = [];
  await git.stream(['cat-file', 'blob', name], (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
}

async function fileOnDisk(opener: PathOpener, path: string, maxBytes: number): Promise<Buffer | undefined> {
  const { handle, stats } = await opener.openFile(path);
  try {
    checkSize(Number(stats.size), maxBytes);
    const bytes = Buffer.alloc(Number(stats.size));
    let read = 0;
    for (let last = -1; last !== 0 && read < bytes.length; read += last)
      last = (await handle.read(bytes, read, bytes.length - read, read)).bytesRead;
    return bytes.subarray(0, read);
  } finally {
    await handle.close();
  }
}

function checkSize(size: number, maxBytes: number): void {
  if (size <= maxBytes) return;
  throw new BridgeError(
    'FILE_TOO_LARGE',
    `The file has ${size} bytes, of at most ${maxBytes} that are shown.`,
    'Open it in another program.',
  );
}
