// docs/machines.md: what another machine says drives no terminal here, looks like no line of the bridge, and has an end.
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { attach } from '../harness/attached-terminal.js';
import { runCommand } from '../harness/run-command.js';
import { createWorkplace } from '../harness/workplace.js';

const forging = fileURLToPath(new URL('../fixtures/programs/forging-machine.mjs', import.meta.url));
const RUNS = 'gpu/task_00000000000000000001';
const ENDED = 'gpu/task_0000000000000000000e';
/** Control characters except line feeds, tabs, returns and colours, and what turns a line around. */
const DRIVES = /(?!\x1b\[\d*m)[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]/;
const FORGED_LINE = /^forged: /m;
const A_SECOND_MS = 1_000;

/** A person whose machine gpu lies so. */
async function near(lie: string) {
  const here = await createWorkplace();
  onTestFinished(() => here.remove());
  const gpu = { command: ['env'], bridge: [process.execPath, forging, lie] };
  const env = { ...here.env, MCP_MACHINES: JSON.stringify({ gpu }) };
  return {
    run: (...words: string[]) => runCommand(words, { cwd: here.root, env }),
    terminal: (command: string, ...args: string[]) => attach({ env, workplace: here }, { command, args }),
  };
}

test.each([
  `tasks show ${RUNS}`,
  `tasks kill ${RUNS}`,
  `tasks show ${ENDED}`,
  `tasks show ${ENDED} --json`,
  `tasks diff ${ENDED}`,
  `tasks finish ${ENDED} merge`,
  `tasks verify ${ENDED}`,
  `attach ${ENDED}`,
])('%s prints no control character and no line of another machine', async (words) => {
  const here = await near('texts');
  const { out, err } = await here.run(...words.split(' '));
  expect(out + err).toMatch(/\\u001b|\\u202e/);
  expect(out + err).not.toMatch(/(?![\n\t])[\u0000-\u001f\u007f-\u009f\u202e]/);
  expect(out + err).not.toMatch(FORGED_LINE);
});

test('a log and a new task of another machine drive no terminal, and colours of the bridge itself stay', async () => {
  const here = await near('texts');
  for (const [command, ...args] of [
    ['run', '--machine', 'gpu', '--path', '/srv', 'Work.'],
    ['tasks', 'follow', ENDED],
    ['tasks', 'show', RUNS],
  ] as const) {
    const terminal = await here.terminal(command, ...args);
    await terminal.exited;
    await terminal.text();
    expect(terminal.raw()).not.toMatch(DRIVES);
    expect(terminal.raw()).not.toContain('\x1b[31m');
    expect(terminal.raw()).toMatch(/\x1b\[(36m▶|33mwaiting)\x1b\[39m/);
  }
});

test('attach passes the text and the style of a task there, and nothing that reaches the clipboard or asks the terminal', async () => {
  const here = await near('texts');
  const terminal = await here.terminal('attach', RUNS);
  await terminal.exited;
  await terminal.text();
  expect(terminal.raw()).toContain('\x1b[1mhonést\x1b[m');
  expect(terminal.raw()).not.toMatch(/\x1b\]52|\x1bP|\x1b\[5n/);
  expect(terminal.raw()).toMatch(/completed:\s+R\\u001b/);
});

test('a list, a log, a patch and checks without an end have one here', async () => {
  const here = await near('no end');
  expect(await here.run('tasks')).toMatchObject({ code: 0, out: 'No tasks.\n' });
  expect(await here.run('tasks', 'show', 'gpu/123456')).toMatchObject({ code: 66 });
  const log = await here.run('tasks', 'log', ENDED);
  expect(log).toMatchObject({ code: 0, err: expect.stringContaining('is longer than 32 MiB') as string });
  const diff = await here.run('tasks', 'diff', ENDED);
  expect(diff.err).toContain('is longer than 64 MiB: what was read is not all of it');
  const beganMs = performance.now();
  expect(await here.run('tasks', 'verify', ENDED)).toMatchObject({ code: 0 });
  expect(performance.now() - beganMs).toBeGreaterThan(2 * A_SECOND_MS);
});
