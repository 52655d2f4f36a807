// The specification of the delegation server: "Usage Example", "Data Flow: Task Execution", "Live Smoke Test Script"; with the
// real Claude Code.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { gitIn, writeFiles } from '../harness/project-files.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runs, says } from '../harness/scripted-turns.js';
import { sharedBridge } from '../harness/start-bridge.js';

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../..', import.meta.url));
const SERVER = "import express from 'express';\n\nexpress().listen(3000);\n";
const PROMPT = 'Add JWT authentication to the server.';

describeNewestClaude('the usage example', ({ binary }) => {
  let folder = '';
  const bridge = sharedBridge({
    claude: binary,
    projects: ['my-api'],
    script: ({ userText, toolResults }) => {
      if (userText.includes('List the files')) return says('There is src.');
      if (toolResults.length > 0) return says('Added JWT authentication.');
      const write = {
        name: 'Write',
        input: { file_path: join(folder, 'src/jwt.ts'), content: 'export const jwt = 1;\n' },
      };
      return { say: 'I add a file.', tools: [write, ...(runs('printf "%s-%s\\n" two words').tools ?? [])] };
    },
  });
  let id = '';

  beforeAll(async () => {
    folder = bridge().project;
    gitIn(folder, 'init', '--quiet', '--initial-branch', 'main');
    await writeFiles(folder, { 'src/server.ts': SERVER });
    gitIn(folder, 'add', '.');
    gitIn(folder, 'commit', '--quiet', '-m', 'first');
  });

  test('explores the project, starts a task, polls it to its end and sees what changed', async () => {
    await bridge().call('set_active_project', { path: folder });
    expect(await bridge().call('get_file_tree')).toMatchObject({
      tree: 'my-api/\n└── src/\n    └── server.ts',
    });
    expect(await bridge().call('read_file', { path: 'src/server.ts' })).toMatchObject({ content: SERVER });
    expect(await bridge().call('git_status')).toMatchObject({ clean: true });
    id = await bridge().start({ path: folder, prompt: PROMPT });
    await expect.poll(() => bridge().status(id)).toMatchObject({ status: 'completed' });
    expect(await bridge().status(id)).toMatchObject({
      exit_code: 0,
      last_output: 'Added JWT authentication.',
      files_changed: [join(folder, 'src/jwt.ts')],
    });
    gitIn(folder, 'add', '--intent-to-add', 'src/jwt.ts');
    expect(await bridge().call('git_diff_stat')).toMatchObject({
      files: [{ file: 'src/jwt.ts', insertions: 1, deletions: 0 }],
    });
  });

  test('the log has the prompt, what Claude Code said and which tools it used, in that order', async () => {
    const log = await bridge().mcp.readResource(`logs://${id}`);
    const places = [
      'Task started',
      `Prompt: ${PROMPT}`,
      'src/jwt.ts',
      'Added JWT authentication.',
      'Task completed',
    ].map((words) => log.indexOf(words));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  test('the log has what a command printed', async () => {
    expect(
      (await bridge().mcp.readResource(`logs://${id}`)).split('\n').map((line) => line.trim()),
    ).toContain('two-words');
  });

  test('the log has what Claude Code said before it used a tool before that tool', async () => {
    const log = await bridge().mcp.readResource(`logs://${id}`);
    const [said, used] = [log.indexOf('I add a file.'), log.indexOf('src/jwt.ts')];
    expect(said).toBeGreaterThan(-1);
    expect(used).toBeGreaterThan(said);
  });

  test('the log ends with the line "Task completed with exit code 0"', async () => {
    const log = await bridge().mcp.readResource(`logs://${id}`);
    expect(log.trimEnd().split('\n').at(-1)).toContain('Task completed with exit code 0');
  });

  test('the prompt of the task lies in current_task_prompt.md', async () => {
    expect(await readFile(join(folder, '.claude/mcp-logs/current_task_prompt.md'), 'utf8')).toBe(PROMPT);
  });

  test('the live smoke test takes a directory and a prompt, shows the task and ends with it', async () => {
    const args = ['--dir', folder, '--prompt', 'List the files in this directory', '--mode', 'auto'];
    const { stdout } = await run(
      process.execPath,
      [join(checkout, 'node_modules/tsx/dist/cli.mjs'), join(checkout, 'scripts/test-live.ts'), ...args],
      { env: { ...bridge().env, TSX_DISABLE_CACHE: '1' }, cwd: checkout },
    );
    expect(stdout).toContain('There is src.');
    expect(stdout).toMatch(/completed/);
  });
});
