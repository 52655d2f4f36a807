// The specification of the delegation server: "Task Tools", "PTY Management System", "Task Lifecycle Management".
import { access, mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { sharedBridge } from '../harness/start-bridge.js';

const bridge = sharedBridge({ claude: scriptedAgent });

const SHORTEST_LIMIT_SECONDS = 60;
const LAST_TEST_MS = 120_000;

/** A project of one test's own. */
const project = (name: string): Promise<string> => bridge().workplace.project(name);

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Started first, looked at last: it takes the shortest limit that a task may have. */
const overdue = { path: '', id: '' };

beforeAll(async () => {
  overdue.path = await project('overdue');
  overdue.id = await bridge().start({
    path: overdue.path,
    prompt: 'AGENT: never-exits',
    timeout_seconds: SHORTEST_LIMIT_SECONDS,
  });
});

describe('start_task', () => {
  test('answers at once with the id, the status and the message', async () => {
    const path = await project('answers');
    const answer = await bridge().call('start_task', { path, prompt: 'AGENT: never-exits' });
    expect(answer['task_id']).toMatch(/^task_[0-9a-f]{20}$/);
    expect(answer).toMatchObject({
      status: 'running',
      message:
        'Task started. Claude Code is processing your request. Call wait_for_task with the cursor to follow it.',
    });
    await bridge().call('kill_task', { task_id: answer['task_id'] });
  });

  test('refuses a path outside the allowed roots and lists the roots', async () => {
    const refusal = await bridge().refusal('start_task', { path: '/etc', prompt: 'AGENT: exit 0' });
    expect(refusal).toMatch(/^PATH_NOT_ALLOWED: .*'?\/etc'? is not within/);
    expect(refusal).toContain(bridge().workplace.projectsDir);
  });

  test('refuses a path that leaves the allowed roots by ".." or through a link', async () => {
    const path = await project('leaves');
    const refusal = await bridge().refusal('start_task', {
      path: join(path, '../../../../../etc'),
      prompt: 'AGENT: exit 0',
    });
    expect(refusal).toMatch(/^PATH_NOT_ALLOWED: /);
  });

  test('refuses a second task for a project and names the one that runs', async () => {
    const path = await project('busy');
    const id = await bridge().start({ path, prompt: 'AGENT: never-exits' });
    const refusal = await bridge().refusal('start_task', { path, prompt: 'AGENT: exit 0' });
    expect(refusal).toMatch(/^TASK_ALREADY_RUNNING: /);
    expect(refusal).toContain(id);
    expect(refusal).toContain('kill_task');
    await bridge().call('kill_task', { task_id: id });
  });

  test('runs tasks in different projects at the same time', async () => {
    const ids = await Promise.all(
      ['app-1', 'app-2'].map(async (name) =>
        bridge().start({ path: await project(name), prompt: 'AGENT: never-exits' }),
      ),
    );
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(await bridge().status(id)).toMatchObject({ status: 'running' });
    for (const task_id of ids) await bridge().call('kill_task', { task_id });
  });

  test.each([59, 14_401, 90.5])('refuses %d as timeout_seconds, with the bounds', async (timeout_seconds) => {
    const refusal = await bridge().refusal('start_task', {
      path: await project(`limit-${timeout_seconds}`),
      prompt: 'AGENT: exit 0',
      timeout_seconds,
    });
    expect(refusal).toMatch(/^INVALID_ARGUMENTS: .*timeout_seconds/);
  });

  test('takes timeout_seconds from 60 to 14400, and 3600 when it is left out', async () => {
    const path = await project('limits');
    const limits = [];
    for (const timeout_seconds of [60, 14_400, undefined]) {
      const id = await bridge().start({ path, prompt: 'AGENT: exit 0', timeout_seconds });
      await bridge().end(id);
      const record: unknown = JSON.parse(await bridge().mcp.readResource(`tasks://${id}`));
      limits.push(record);
    }
    expect(limits).toMatchObject([60, 14_400, 3_600].map((timeout_seconds) => ({ timeout_seconds })));
  });

  test('refuses a permission_mode other than auto and cautious', async () => {
    const refusal = await bridge().refusal('start_task', {
      path: await project('yolo'),
      prompt: 'AGENT: exit 0',
      permission_mode: 'yolo',
    });
    expect(refusal).toMatch(/^INVALID_ARGUMENTS: .*permission_mode/);
    expect(refusal).toContain('cautious');
  });

  test.each([
    ['prompt', 'INVALID_ARGUMENTS'],
    ['path', 'NO_ACTIVE_PROJECT'],
  ])('refuses a call without %s, where there is no default', async (name, code) => {
    const args = { prompt: 'AGENT: exit 0', path: await project(`without-${name}`), [name]: undefined };
    expect(await bridge().refusal('start_task', args)).toMatch(new RegExp(`^${code}: .*${name}`));
  });

  test('hands over the prompt by a file and as it is: no shell reads it', async () => {
    const path = await project('prompt');
    const prompt = `AGENT: echo\n$(touch ran) \`touch ran\` "; touch ran; echo 'Ü 漢字\n--dangerously-skip-permissions`;
    const id = await bridge().start({ path, prompt });
    await bridge().end(id);
    const log = await bridge().output(id, 'log');
    for (const line of prompt.split('\n')) expect(log.text).toContain(line);
    expect(log.text).toContain(`BYTES:${Buffer.byteLength(prompt)}`);
    expect(await isThere(join(path, 'ran'))).toBe(false);
    const logs = join(path, '.claude', 'mcp-logs');
    expect(await readFile(join(logs, 'current_task_prompt.md'), 'utf8')).toBe(prompt);
  });

  test('runs the program in a terminal, in the project, with TERM=xterm-256color', async () => {
    const path = await project('terminal');
    const id = await bridge().start({ path, prompt: 'AGENT: asks-terminal' });
    await bridge().end(id);
    expect((await bridge().output(id, 'log')).text).toMatch(/TERMINAL SAID:"\\u001b\[/);
  });
});

describe('get_task_status', () => {
  test('of a running task has its id, its time, no exit code, its last output and when to look again', async () => {
    const id = await bridge().start({ path: await project('status'), prompt: 'AGENT: never-exits' });
    await bridge().until(id, ({ last_output }) => last_output.includes('working'));
    const status = await bridge().status(id);
    expect(status.elapsed_seconds).toBeLessThan(60);
    expect(status).toMatchObject({
      task_id: id,
      status: 'running',
      exit_code: null,
      last_output: 'working',
      hint: 'Task is still processing. Call wait_for_task with the cursor; it answers as soon as that changes.',
    });
    await bridge().call('kill_task', { task_id: id });
  });

  test('of a task that exited with 0 says completed', async () => {
    const id = await bridge().start({ path: await project('completed'), prompt: 'AGENT: exit 0' });
    const end = await bridge().end(id);
    expect(end).toMatchObject({ status: 'completed', exit_code: 0, last_output: 'exiting with 0' });
    expect(end.hint).toMatch(/^Task completed successfully\. Review the output above\./);
  });

  test('of a task that exited with another code says failed, with the code', async () => {
    const id = await bridge().start({ path: await project('failed'), prompt: 'AGENT: exit 3' });
    const end = await bridge().end(id);
    expect(end).toMatchObject({ status: 'failed', exit_code: 3 });
    expect(end.hint).toMatch(/^Task failed with exit code 3\. Review the error output above\./);
  });

  test('of a program that a signal ended names the signal, and no exit code null', async () => {
    const id = await bridge().start({ path: await project('signal'), prompt: 'AGENT: dies-mid-line' });
    const end = await bridge().end(id);
    expect(end).toMatchObject({ status: 'failed' });
    expect(end.hint).not.toContain('null');
    expect(end.hint).toContain('SIGKILL');
  });

  test('gives the last 500 characters at most, without escape codes', async () => {
    const id = await bridge().start({ path: await project('long-output'), prompt: 'AGENT: floods 1' });
    const { last_output } = await bridge().end(id);
    expect(last_output.length).toBeLessThanOrEqual(500);
    expect(last_output.length).toBeGreaterThan(300);
    expect(last_output).toMatch(/FLOOD END$/);
    expect(last_output).not.toContain('\u001b');
  });

  test('of an unknown task is an error', async () => {
    expect(await bridge().refusal('get_task_status', { task_id: 'task_nonexistent' })).toMatch(
      /^TASK_NOT_FOUND: .*task_nonexistent/,
    );
  });
});

describe('kill_task', () => {
  test('terminates a running task and says so', async () => {
    const path = await project('kill');
    const id = await bridge().start({ path, prompt: 'AGENT: never-exits' });
    expect(await bridge().call('kill_task', { task_id: id })).toMatchObject({
      task_id: id,
      status: 'killed',
      message: 'Task terminated successfully.',
    });
    const after = await bridge().status(id);
    expect(after).toMatchObject({ status: 'killed' });
    expect(after.hint).toMatch(/^Task was manually terminated\./);
    // The project is free again.
    await bridge().end(await bridge().start({ path, prompt: 'AGENT: exit 0' }));
  });

  test('sends SIGTERM first, and SIGKILL to what is left after 5 seconds', async () => {
    const id = await bridge().start({ path: await project('stubborn'), prompt: 'AGENT: ignores-sigterm' });
    await bridge().until(id, ({ last_output }) => last_output.includes('READY'));
    const startMs = performance.now();
    expect(await bridge().call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    const tookMs = performance.now() - startMs;
    expect((await bridge().output(id, 'log')).text).toContain('ignoring SIGTERM');
    expect(tookMs).toBeGreaterThan(4_500);
    expect(tookMs).toBeLessThan(15_000);
  });

  test('of a task that is not running is an error', async () => {
    const id = await bridge().start({ path: await project('ended'), prompt: 'AGENT: exit 0' });
    await bridge().end(id);
    expect(await bridge().refusal('kill_task', { task_id: id })).toMatch(/^TASK_NOT_RUNNING: .*completed/);
    expect(await bridge().refusal('kill_task', { task_id: 'task_nonexistent' })).toMatch(/^TASK_NOT_FOUND: /);
  });
});

describe('approval prompts', () => {
  test.each(['split-prompt', 'repaints-prompt'])(
    'in mode auto are answered with y, once however they are printed: %s',
    async (behaviour) => {
      const id = await bridge().start({ path: await project(behaviour), prompt: `AGENT: ${behaviour}` });
      await bridge().end(id);
      const { text } = await bridge().output(id, 'log');
      expect(text).toContain('GOT:y');
      expect(text).not.toMatch(/ANSWERS:[^1]/);
    },
  );
});

describe('files of a task', () => {
  test('lie in .claude/mcp-logs of the project: the log, and the prompt as current_task_prompt.md', async () => {
    const path = await project('files');
    const id = await bridge().start({ path, prompt: 'AGENT: exit 0' });
    await bridge().end(id);
    const logs = join(path, '.claude', 'mcp-logs');
    expect(await readdir(logs)).toEqual(expect.arrayContaining([`${id}.log`, 'current_task_prompt.md']));
    expect(await readFile(join(logs, 'current_task_prompt.md'), 'utf8')).toBe('AGENT: exit 0');
    expect(await readFile(join(logs, `${id}.log`), 'utf8')).toContain('exiting with 0');
  });

  test('are ignored by git, and the .gitignore of the project stays as it is', async () => {
    const path = await project('ignored');
    await bridge().call('init_git_repo', { path });
    await bridge().end(await bridge().start({ path, prompt: 'AGENT: exit 0' }));
    expect(await bridge().call('git_status', { path })).toMatchObject({ clean: true, untracked: [] });
    expect(await isThere(join(path, '.gitignore'))).toBe(false);
  });

  test('are made in a project that has a .claude folder already', async () => {
    const path = await project('has-claude');
    await mkdir(join(path, '.claude'));
    const id = await bridge().start({ path, prompt: 'AGENT: exit 0' });
    expect(await bridge().end(id)).toMatchObject({ status: 'completed' });
  });
});

test(
  'a task that exceeds its time limit is terminated, says so, and its project is free',
  async () => {
    const { id, path } = overdue;
    await expect
      .poll(() => bridge().status(id), { timeout: LAST_TEST_MS, interval: 1_000 })
      .toMatchObject({ status: 'timeout' });
    const { hint, elapsed_seconds } = await bridge().status(id);
    expect(hint).toMatch(/^Task exceeded the timeout limit and was terminated\./);
    expect(elapsed_seconds).toBeGreaterThanOrEqual(SHORTEST_LIMIT_SECONDS);
    const next = await bridge().start({ path, prompt: 'AGENT: exit 0' });
    expect(await bridge().end(next)).toMatchObject({ status: 'completed' });
  },
  LAST_TEST_MS,
);
