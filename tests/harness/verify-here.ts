import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createSecret } from '../../src/base/ids.js';
import { checkSchema, type Brief } from '../../src/checks/brief.js';
import type { Verification } from '../../src/checks/result.js';
import { hostLines, type StartLine } from '../../src/checks/run-command.js';
import { verifyWork } from '../../src/checks/verify.js';
import { GitRunner } from '../../src/git/run/run-git.js';
import type { WorkQuery } from '../../src/git/state/clean-copy.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { childEnvironment } from '../../src/pty/child-env.js';

/** Runs command lines of checks on this machine. */
export function linesHere(home: string, mark = createSecret()): StartLine {
  const env = childEnvironment({ PATH: process.env['PATH'], HOME: home }, { mark });
  return hostLines({ shell: '/bin/sh', env, mark, startedSince: undefined });
}

/** Verifies one check of a project below `top`, which is a real path. */
export async function verifyHere(
  top: string,
  query: WorkQuery,
  check: object,
  brief?: Brief,
): Promise<Verification> {
  const scratch = join(top, `copies-${createSecret()}`);
  const runner = new GitRunner({ path: process.env['PATH'], homeDir: top, xdgConfigHome: undefined });
  const door = { roots: AllowedRoots.ofReal([top], top), runner };
  const checks = [checkSchema.parse({ name: 'unit', command: 'true', ...check })];
  const linesIn = async (): Promise<StartLine> => linesHere(top);
  const parts = { door, query, checks, brief, scratch, outputFolder: `${scratch}-outputs`, linesIn };
  const found = await verifyWork(parts, new AbortController().signal);
  expect(existsSync(scratch)).toBe(false);
  return found;
}
