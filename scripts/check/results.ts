import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const resultSchema = z.looseObject({
  commit: z.string(),
  isGreen: z.boolean(),
  leftOut: z.array(z.string()).default([]),
});

/** Where the results of the gate and of each part of the long form lie, one file each. */
export function resultsFolder(root: string): string {
  return join(root, '.cache', 'check');
}

/** Writes a result with the time and the commit that was checked. */
export function writeResult(root: string, name: string, result: object): void {
  mkdirSync(resultsFolder(root), { recursive: true });
  const dated = { at: new Date().toISOString(), commit: commitOf(root), ...result };
  writeFileSync(join(resultsFolder(root), `${name}.json`), `${JSON.stringify(dated, null, 2)}\n`);
}

/** Why the results of these parts do not allow a release: each must be green for this very commit, with nothing left out. */
export function resultFaults(root: string, names: readonly string[]): string[] {
  const commit = commitOf(root);
  return names.flatMap((name) => {
    const file = join(resultsFolder(root), `${name}.json`);
    if (!existsSync(file)) return [`${name} has not been run.`];
    const result = resultSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    if (result.commit !== commit) return [`${name} was run for ${result.commit}, not for ${commit}.`];
    if (!result.isGreen) return [`${name} failed.`];
    return result.leftOut.map((one) => `${name} left out ${one}.`);
  });
}

/** The commit of the work tree; `-changed` where it holds changes. */
function commitOf(root: string): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', [...args], { cwd: root, encoding: 'utf8' }).trim();
  return `${git('rev-parse', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '-changed'}`;
}
