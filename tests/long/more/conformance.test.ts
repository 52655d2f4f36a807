import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { startHttpShim } from '../../harness/http-shim.js';
import { installPackage, type InstalledPackage } from '../../harness/install-package.js';
import { serverEntry } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';
import baseline from './conformance-baseline.json' with { type: 'json' };

const run = promisify(execFile);
const SUITE = { name: '@modelcontextprotocol/conformance', version: '0.2.0-alpha.12', beside: [] };
const INSTALL_LIMIT_MS = 600_000;
/** Fewer checks than this are no run of the suite. */
const MIN_CHECKS = 60;

const checksSchema = z.array(z.looseObject({ id: z.string(), status: z.string() }));
const FAILED: ReadonlySet<string> = new Set(['FAILURE', 'WARNING']);
/** The folder of a scenario's results: its name and the time. */
const RESULTS = /^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/;

interface Results {
  readonly all: number;
  /** As `scenario/check`, sorted. */
  readonly failed: readonly string[];
}

/** The results of all scenarios of a revision against the built server. */
async function conformance(suite: InstalledPackage, revision: string): Promise<Results> {
  const workplace = await createWorkplace();
  const server = { command: process.execPath, args: [serverEntry], env: workplace.env };
  const shim = await startHttpShim(server);
  onTestFinished(async () => {
    await shim.dispose();
    await workplace.remove();
  });
  const folder = join(workplace.root, 'results');
  const program = join(suite.folder, 'node_modules', SUITE.name, 'dist', 'index.js');
  const loader = join(import.meta.dirname, '..', '..', 'harness', 'with-glob-sync.mjs');
  const options = ['--url', shim.url, '--suite', 'all', '--spec-version', revision, '--output-dir', folder];
  const { HOME = '', PATH = '', TMPDIR = '' } = workplace.env;
  // It exits with 1 when a check has failed, listed or not.
  await run(suite.node, ['--import', loader, program, 'server', ...options], {
    env: { HOME, PATH, TMPDIR },
    cwd: workplace.root,
    maxBuffer: 64 * 1024 * 1024,
  }).catch(() => undefined);
  return readResults(folder);
}

async function readResults(folder: string): Promise<Results> {
  const failed = new Set<string>();
  let all = 0;
  for (const name of await readdir(folder)) {
    const scenario = RESULTS.exec(name)?.[1] ?? name;
    const checks = checksSchema.parse(JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')));
    all += checks.length;
    for (const { id, status } of checks) if (FAILED.has(status)) failed.add(`${scenario}/${id}`);
  }
  return { all, failed: [...failed].sort() };
}

describe('the official conformance suite', () => {
  let suite: InstalledPackage | undefined;
  beforeAll(async () => {
    suite = await installPackage(SUITE).catch((error: unknown) => {
      if (process.env['CI'] === 'true') throw error;
      return undefined; // Without a registry the tests are left out.
    });
  }, INSTALL_LIMIT_MS);

  it.for(['2025-11-25', '2026-07-28'] as const)(
    'fails in revision %s exactly where the baseline says why',
    async (revision, { skip }) => {
      if (suite === undefined) return skip();
      const { all, failed } = await conformance(suite, revision);
      expect(all).toBeGreaterThan(MIN_CHECKS);
      expect(failed).toEqual(baseline[revision].flatMap(({ checks }) => checks).sort());
    },
  );
});
