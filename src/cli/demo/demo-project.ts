import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ScriptedTurn } from './scripted-api.js';

/** Everything here is local and small; a git that takes longer hangs. */
const GIT_LIMIT_MS = 20_000;

const BUGGY_LINE = 'for (let i = 1; i < numbers.length; i++) sum += numbers[i];';
const FIXED_LINE = 'for (let i = 0; i < numbers.length; i++) sum += numbers[i];';

const files: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "shop-math", "private": true, "type": "module" }\n',
  'average.js': `/** The mean of some numbers. */
export function average(numbers) {
  let sum = 0;
  ${BUGGY_LINE}
  return sum / numbers.length;
}
`,
  'test.js': `import assert from 'node:assert';
import { average } from './average.js';

assert.equal(average([2, 4, 6]), 4);
assert.equal(average([5]), 5);
console.log('2 tests passed');
`,
};

export const DEMO_PROMPT = 'node test.js fails. Find out why, fix it, and run the test to prove it.';

/** A small git repository with one commit, a bug, and a test that shows it. */
export async function createDemoProject(folder: string, path: string, signal?: AbortSignal): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await git(folder, path, ['init', '--quiet', '--initial-branch=main'], signal);
  await git(folder, path, ['add', '--all'], signal);
  await git(folder, path, ['commit', '--quiet', '--message', 'Average of some numbers'], signal);
}

/** What differs from the last commit, as `git diff` shows it. */
export async function readDiff(folder: string, path: string): Promise<string> {
  return git(folder, path, ['diff', '--no-ext-diff', '--no-textconv', '--no-color']);
}

/** What the scripted model does with the project: read, edit, run the test, report. */
export function demoScript(folder: string): ScriptedTurn[] {
  const file = join(folder, 'average.js');
  return [
    {
      say: 'I will read the function and its test first.',
      tools: [
        { name: 'Read', input: { file_path: file } },
        { name: 'Read', input: { file_path: join(folder, 'test.js') } },
      ],
    },
    {
      say: 'The loop starts at 1, so the first number is never added.',
      tools: [{ name: 'Edit', input: { file_path: file, old_string: BUGGY_LINE, new_string: FIXED_LINE } }],
    },
    {
      say: 'Now the test.',
      tools: [{ name: 'Bash', input: { command: 'node test.js', description: 'Run the test' } }],
    },
    { say: 'Fixed: the loop in average.js skipped the first number. Both tests pass now.' },
  ];
}

async function git(
  folder: string,
  path: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  // The person's own git settings (signing, hooks, templates) stay out of a demo.
  const env = {
    PATH: path,
    HOME: folder,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Demo',
    GIT_AUTHOR_EMAIL: 'demo@localhost',
    GIT_COMMITTER_NAME: 'Demo',
    GIT_COMMITTER_EMAIL: 'demo@localhost',
  };
  const limits = { timeout: GIT_LIMIT_MS, killSignal: 'SIGKILL', signal } as const;
  return (await promisify(execFile)('git', args, { cwd: folder, env, ...limits })).stdout;
}
