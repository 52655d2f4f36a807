import { join } from 'node:path';
import { readRegularFile } from '../../base/files/regular-file.js';
import { someNames } from '../../base/text.js';
import type { Repository } from '../run/repository.js';
import { doesNotFit } from '../worktree/changing-git.js';

const MAX_BYTES = 1_000_000;
const LIST: readonly string[] = ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/replace'];

/**
 * What makes git show other objects or other parents than those that are stored: replace refs, grafts, and the commits that a shallow
 * clone ends with. The bridge's git shows what is stored; that of a person does not. Throws like the runner.
 */
export async function disguisesOf(
  list: (args: readonly string[]) => Promise<string>,
  { commonDir }: Repository,
): Promise<string[]> {
  const [refs, grafts, shallow] = await Promise.all([
    list(LIST),
    linesOf(join(commonDir, 'info', 'grafts')),
    linesOf(join(commonDir, 'shallow')),
  ]);
  const named = (what: string, lines: readonly string[]): string[] => lines.map((line) => `${what} ${line}`);
  return [...split(refs), ...named('graft', grafts), ...named('shallow', shallow)];
}

/** Those that are new, for a sentence; undefined when there are none. */
export function newDisguises(now: readonly string[], before: readonly string[]): string | undefined {
  const fresh = now.filter((one) => !before.includes(one));
  return fresh.length === 0 ? undefined : someNames(fresh);
}

/** Throws WORK_DOES_NOT_FIT when there are new ones. */
export function requireNoDisguises(now: readonly string[], before: readonly string[]): void {
  const fresh = newDisguises(now, before);
  if (fresh === undefined) return;
  throw doesNotFit(
    `Since the task began the repository has what makes git show other commits or files than it holds: ${fresh}.`,
    'Remove them (git replace -d <object>; the lines in .git/info/grafts and .git/shallow), or discard the work. Nothing was changed.',
  );
}

async function linesOf(path: string): Promise<string[]> {
  const read = await readRegularFile(path, MAX_BYTES);
  if (read.state === 'refused') return [read.why];
  return read.state === 'ok' ? split(read.bytes.toString('latin1')) : [];
}

function split(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}
