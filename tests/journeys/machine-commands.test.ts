// docs/machines.md: tasks on another machine by the commands of this one. The other machine is another user's home on this computer.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { attach } from '../harness/attached-terminal.js';
import { repository } from '../harness/project-files.js';
import { commandOf } from '../harness/marked-processes.js';
import { runCommand } from '../harness/run-command.js';
import { asksEnv, program, scriptedAgent } from '../harness/scripted-agent.js';
import { serverEntry, startBridge, type TestBridge } from '../harness/start-bridge.js';
import { createWorkplace } from '../harness/workplace.js';

const CTRL_RIGHT_BRACKET = '\x1d';

/** The user of `far` as the machine gpu of a person with folders of their own. */
async function near(far: TestBridge) {
  const here = await createWorkplace();
  onTestFinished(() => here.remove());
  const variables = Object.entries(far.env).map(([name, value]) => `${name}=${value}`);
  const down = join(here.root, 'down');
  const line = '[ -e "$0" ] && { echo "No route to host" >&2; exit 255; }; exec env -i "$@"';
  const gpu = { command: ['sh', '-c', line, down, ...variables], bridge: [process.execPath, serverEntry] };
  const env = { ...here.env, MCP_MACHINES: JSON.stringify({ gpu }) };
  return {
    ...here,
    env,
    run: (...words: string[]) => runCommand(words, { cwd: here.root, env }),
    terminal: (command: string, ...args: string[]) => attach({ env, workplace: here }, { command, args }),
    /** Ends the far end of the line, and lets no other one begin. */
    cut: async () => {
      await writeFile(down, '');
      for (const pid of await far.workplace.processes())
        if ((await commandOf(pid)).includes('--link')) process.kill(pid, 'SIGKILL');
    },
    mend: () => rm(down),
  };
}

test('one list shows tasks here and there, and a task there is seen, answered and followed by its id with the machine or alone', async () => {
  const far = await startBridge({ claude: scriptedAgent, env: asksEnv });
  const here = await near(far);
  const taskId = await far.start({ prompt: 'AGENT: split-prompt' });
  await far.decision(taskId);
  const id = taskId.slice(-6);
  const list = await here.run('tasks');
  expect(list).toMatchObject({ code: 0, err: '' });
  expect(list.out).toMatch(new RegExp(`^TASK .*\ngpu/${id}  waiting .* ${far.project} `));
  const shown = await here.run('tasks', 'show', id);
  expect(shown.out).toContain(`gpu/${taskId}`);
  expect(shown.out).toContain(`tasks answer gpu/${id} dec_1 deny`);
  expect(await here.run('tasks', 'answer', `gpu/${id}`, 'n')).toMatchObject({ code: 0 });
  await far.end(taskId);
  const log = await here.run('tasks', 'follow', `gpu/${id}`);
  expect(log.out).toBe(await (await far.command(['tasks', 'log', id])).out);
  const gone = await here.run('tasks', 'rm', `gpu/${id}`);
  expect(gone).toMatchObject({ code: 64, err: expect.stringContaining('kept there') as string });
  expect(await here.run('tasks', 'show', 'box/123456')).toMatchObject({ code: 66 });
});

test('attach shows a task there through a cut of the line, and sends nothing that was typed meanwhile', async () => {
  const far = await startBridge({ claude: scriptedAgent });
  const here = await near(far);
  const taskId = await far.agent('never-exits');
  const terminal = await here.terminal('attach', taskId.slice(-6));
  await terminal.sees('working');
  terminal.type('before');
  await terminal.sees('before');
  await here.cut();
  await terminal.sees(/the line to gpu is cut since \d\d:\d\d; trying again · ctrl-\] leaves/);
  terminal.type('meanwhile');
  await here.mend();
  await terminal.sees(/working\s+before\s+(?![^]*the line to gpu)/);
  terminal.type('after');
  expect(await terminal.sees('beforeafter')).not.toContain('meanwhile');
  await here.cut();
  await terminal.sees('the line to gpu is cut');
  terminal.type(CTRL_RIGHT_BRACKET);
  expect(await terminal.exited).toMatchObject({ code: 0 });
  await here.mend();
  expect((await here.run('tasks', 'kill', `gpu/${taskId.slice(-6)}`)).out).toContain(`gpu/${taskId} killed`);
});

test('run starts a task there, follows it through a cut, and its work is shown and brought home there', async () => {
  const wait = 'until [ -e go ]; do sleep 0.1; done; echo two >a.txt; echo done';
  const far = await startBridge({ claude: program('edits', `echo begun; ${wait}`) });
  const here = await near(far);
  await repository(far.project);
  expect(await here.run('run', '--machine', 'gpu', 'Work.')).toMatchObject({
    code: 64,
    err: expect.stringContaining('--path with an absolute path there') as string,
  });
  const begun = await here.run(
    'run',
    '--machine',
    'gpu',
    '--path',
    far.project,
    '--worktree',
    '--detach',
    'Work.',
  );
  expect(begun).toMatchObject({ code: 0, err: '' });
  const [taskId = ''] = /^gpu\/task_[0-9a-f]{20}/.exec(begun.out) ?? [];
  const following = await here.terminal('tasks', 'follow', taskId);
  await following.sees('begun');
  await here.cut();
  await following.sees('gpu is unverifiable since');
  await here.mend();
  await following.sees('gpu answers again');
  await writeFile(join(far.project, '.claude', 'worktrees', taskId.slice('gpu/'.length), 'go'), '');
  expect(await following.exited).toMatchObject({ code: 0 });
  expect(await following.text()).toMatch(/^(?!.*begun.*begun).*begun.*answers again.*done/s);
  expect((await here.run('tasks', 'diff', taskId)).out).toContain('+two');
  const merged = await here.run('tasks', 'finish', taskId, 'merge');
  expect(merged).toMatchObject({ code: 0 });
  expect(merged.out).toContain(`${taskId} merge:`);
  expect(await far.read('a.txt')).toBe('two\n');
});

test('a machine that does not answer is named, and hides no task of this one', async () => {
  const far = await startBridge({ claude: scriptedAgent });
  const here = await near(far);
  await here.cut();
  const list = await here.run('tasks');
  expect(list.code).toBe(0);
  expect(list.out).toBe('No tasks.\n');
  expect(list.err).toMatch(/^gpu: unverifiable since \d\d:\d\d \(.*No route to host/);
  const all = await here.run('machines');
  expect(all).toMatchObject({ code: 0, err: '' });
  expect(all.out).toMatch(/^gpu {2}sh -c [^]*\n {5}does not answer: No route to host\n$/);
  expect(await here.run('tasks', 'show', 'gpu/123456')).toMatchObject({ code: 69 });
  await here.mend();
  expect((await here.run('machines')).out).toMatch(/\n {5}live: \S+, version \S+, 0 tasks running\n$/);
});

test('the bridge of a machine with two names is not removed by one of them', async () => {
  const far = await startBridge({ claude: scriptedAgent });
  const here = await near(far);
  const { MCP_MACHINES: machines, ...env } = here.env;
  const { gpu } = z.object({ gpu: z.unknown() }).parse(JSON.parse(machines));
  const file = join(here.root, 'settings.json');
  await writeFile(file, JSON.stringify({ machines: { gpu, twin: gpu } }));
  const purged = await runCommand(['--config', file, 'machines', 'rm', 'twin', '--purge'], {
    cwd: here.root,
    env,
  });
  expect(purged).toMatchObject({
    code: 64,
    err: expect.stringContaining('gpu is the same machine') as string,
  });
  expect(await readFile(file, 'utf8')).toContain('twin');
});

test('the checks of a task there run there', async () => {
  const far = await startBridge({ claude: program('edits', 'echo two >a.txt') });
  const here = await near(far);
  await repository(far.project);
  const check = ['--check', 'two: grep two a.txt', '--check', 'three: grep three a.txt'];
  const ran = await here.run('run', '--machine', 'gpu', '--path', far.project, ...check, 'Work.');
  expect(ran).toMatchObject({ code: 1 });
  const [taskId = ''] = /gpu\/task_[0-9a-f]{20}/.exec(ran.err) ?? [];
  const verified = await here.run('tasks', 'verify', taskId);
  expect(verified).toMatchObject({ code: 1, out: expect.stringContaining('three: not met') as string });
  expect(verified.out).toContain('two: met');
});
