// The specification of the delegation server: "Usage Example", "Data Flow: Task Execution", "Live Smoke Test Script"; with the
// real Claude Code.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { gitIn, repository } from '../harness/project-files.js';
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

  test('goes as it is told: the project is explored, a task started and polled to its end, its log read and its change seen', async () => {
    folder = await bridge().newProject('my-api');
    await repository(folder, { 'src/server.ts': SERVER });
    await bridge().call('set_active_project', { path: folder });
    expect(await bridge().call('get_file_tree')).toMatchObject({
      tree: `${basename(folder)}/\n└── src/\n    └── server.ts`,
    });
    expect(await bridge().call('read_file', { path: 'src/server.ts' })).toMatchObject({ content: SERVER });
    expect(await bridge().call('git_status')).toMatchObject({ clean: true });
    const id = await bridge().start({ path: folder, prompt: PROMPT });
    expect(await bridge().end(id)).toMatchObject({
      status: 'completed',
      exit_code: 0,
      last_output: 'Added JWT authentication.',
      files_changed: [join(folder, 'src/jwt.ts')],
    });
    gitIn(folder, 'add', '--intent-to-add', 'src/jwt.ts');
    expect(await bridge().call('git_diff_stat')).toMatchObject({
      files: [{ file: 'src/jwt.ts', insertions: 1, deletions: 0 }],
    });
    expect(await readFile(join(folder, '.claude/mcp-logs/current_task_prompt.md'), 'utf8')).toBe(PROMPT);

    // In the order in which it happened, with what a command printed.
    const log = await bridge().mcp.readResource(`logs://${id}`);
    const places = [
      'Task started',
      `Prompt: ${PROMPT}`,
      'src/jwt.ts',
      'Added JWT authentication.',
      'Task completed',
    ].map((words) => log.indexOf(words));
    expect(places, log).not.toContain(-1);
    expect(places, log).toEqual(places.toSorted((one, other) => one - other));
    const lines = log.trimEnd().split('\n');
    expect(lines.map((line) => line.trim())).toContain('two-words');
    // Before the tool that came after it only if Claude Code writes it down in time: see tests/journeys/claude-code.test.ts.
    expect(log).toContain('Claude: I add a file.');
    expect(lines.at(-1)).toContain('Task completed with exit code 0');
  });

  test('has a live smoke test that takes a directory and a prompt, shows the task and ends with it', async () => {
    const path = await bridge().newProject('live');
    const args = ['--dir', path, '--prompt', 'List the files in this directory', '--mode', 'auto'];
    const running = run(
      process.execPath,
      [join(checkout, 'node_modules/tsx/dist/cli.mjs'), join(checkout, 'scripts/test-live.ts'), ...args],
      { env: { ...bridge().env, TSX_DISABLE_CACHE: '1' }, cwd: checkout },
    );
    // As without a terminal: nothing is to be asked.
    running.child.stdin?.end();
    const { stdout } = await running;
    expect(stdout).toContain('There is src.');
    expect(stdout).toMatch(/completed/);
  });
});
