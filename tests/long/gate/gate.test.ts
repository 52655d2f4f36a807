import { spawn } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { markedProcesses } from '../../harness/marked-processes.js';
import { until } from '../../harness/until.js';

const root = join(import.meta.dirname, '..', '..', '..');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const config = join(import.meta.dirname, 'fixtures', 'vitest.config.ts');
const check = join(root, 'scripts', 'check', 'check.ts');
const resultSchema = z.object({ flaky: z.array(z.string()) });

async function ownFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'g-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the fixture as the runner does, in a folder of its own. */
async function run(way: string) {
  const folder = await ownFolder();
  const file = join(await ownFolder(), 'result.json');
  // Without what this run tells its own projects.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SUITE_'));
  const own = { CHECK_FOLDER: folder, CHECK_RESULT: file, GATE_WAY: way, NO_COLOR: '1' };
  const env = { ...Object.fromEntries(inherited), ...own };
  const child = spawn(process.execPath, [vitest, 'run', '--config', config], { cwd: root, env });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  const { flaky } = resultSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  return { folder, code, flaky, output: (await output).join('') };
}

test('a process that a test leaves fails the run, which names it', async () => {
  const { folder, code, output } = await run('leaves');
  expect(code).toBe(1);
  expect(output).toMatch(/The tests left behind:\nprocess \d+: sleep 600/);
  for (const pid of await markedProcesses(folder)) process.kill(pid, 'SIGKILL');
});

test('a test that passes at its second try passes, and is named as flaky with its time', async () => {
  const { code, flaky } = await run('flaky');
  expect(code).toBe(0);
  expect(flaky).toEqual([expect.stringMatching(/all-ways\.check\.ts > is flaky \(\d+ ms\)$/)]);
});

test('an interrupted run ends all that it started, and leaves no folder', async () => {
  const parent = await ownFolder();
  const env = { ...process.env, TMPDIR: parent };
  const child = spawn(process.execPath, ['--import', 'tsx', check, '--all', 'more'], { cwd: root, env });
  const running = () => markedProcesses(join(parent, 's-'));
  await until('the build has been started', async () => (await running()).length > 0);
  child.kill('SIGINT');
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(130);
  expect(await running()).toEqual([]);
});
