// docs/machines.md: two other machines, each with folders and a state of its own, behind a command that gives a shell there.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { scriptedClaudeEnvironment, writeClaudeHome } from '../../src/cli/demo/claude-home.js';
import { startScriptedApi } from '../../src/cli/demo/scripted-api.js';
import { taskSpecSchema } from '../../src/tasks/task-spec.js';
import { farWorkplace, type FarWorkplace } from '../harness/far-workplace.js';
import { repository } from '../harness/project-files.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { asksAboutPrompts, asksEnv, program, scriptedAgent } from '../harness/scripted-agent.js';
import { sharedBridge, startBridge } from '../harness/start-bridge.js';
import { runs, says } from '../harness/scripted-turns.js';
import { until } from '../harness/until.js';
import { createWorkplace, type Workplace } from '../harness/workplace.js';
import { ScriptedModel } from './scripted-model.js';

const NAMES = ['gpu', 'pod'] as const;
const ROW = { rule: 'Bash(git push *)', verdict: 'deny', reason: 'A person pushes.' } as const;
/** `~` is another folder on each machine: the same path with other content. */
const PATH = '~/p/app';

const far: Record<string, FarWorkplace> = {};
const agent = program('agent', `exec '${process.execPath}' '${scriptedAgent}' "$@"`);

// After the last test, once the server of this machine is closed.
afterAll(async () => {
  for (const name of NAMES) {
    await far[name]?.settled();
    await far[name]?.remove();
  }
});

const bridge = sharedBridge(async () => {
  const workplace = await createWorkplace();
  for (const name of NAMES)
    far[name] = await farWorkplace(async (there) => ({ ...asksEnv, MCP_CLAUDE_COMMAND: await agent(there) }));
  const settings = Object.fromEntries(NAMES.map((name) => [name, far[name]?.setting]));
  return {
    workplace,
    claude: scriptedAgent,
    env: {
      MCP_ALLOWED_ROOTS: JSON.stringify([workplace.projectsDir, workplace.homeDir]),
      MCP_MACHINES: JSON.stringify(settings),
      MCP_RULES: JSON.stringify([ROW]),
      MCP_TOOLSETS: 'tasks,project,files,git,process,delegate',
    },
  };
});

/** The home of a machine; this one has no name. */
const homeOf = (name: string | undefined): string =>
  (name === undefined ? bridge().workplace : machine(name)).homeDir;

function machine(name: string): FarWorkplace {
  const found = far[name];
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

beforeAll(async () => {
  for (const name of [undefined, ...NAMES]) {
    const project = join(homeOf(name), 'p', 'app');
    await mkdir(project, { recursive: true });
    await writeFile(join(project, 'where.txt'), `on ${name ?? 'this machine'}\n`);
    await repository(project);
  }
});

const idSchema = z.looseObject({ task_id: z.string(), cursor: z.string() });
const waitedSchema = z.looseObject({
  tasks: z.array(z.looseObject({ task_id: z.string(), status: z.string(), line: z.string().optional() })),
  cursor: z.string(),
});

async function start(name: string, behaviour: string, more: object = {}) {
  const args = { prompt: `AGENT: ${behaviour}`, path: PATH, machine: name, ...more };
  return idSchema.parse(await bridge().call('start_task', args));
}

describe('tools', () => {
  test('run on the machine that is named and on no other: 100 calls with the same path', async () => {
    const calls = Array.from({ length: 25 }, (_, round) => {
      const name = [undefined, ...NAMES][round % 3];
      const where = name === undefined ? {} : { machine: name };
      const here = name ?? 'this machine';
      const file = `${PATH}/made-${round}.txt`;
      return { name, where, here, file, round };
    });
    await Promise.all(
      calls.map(async ({ name, where, here, file, round }) => {
        const read = await bridge().call('read_file', { path: `${PATH}/where.txt`, ...where });
        expect(read['content']).toBe(`on ${here}\n`);
        await bridge().call('write_file', { path: file, content: `${here} ${round}`, ...where });
        const status = await bridge().call('git_status', { path: PATH, ...where });
        expect(status['repository']).toBe(join(homeOf(name), 'p', 'app'));
        const ran = await bridge().call('spawn', {
          command: 'cat',
          args: ['where.txt'],
          cwd: PATH,
          ...where,
        });
        expect(ran['stdout']).toBe(`on ${here}\n`);
        expect(ran['pid']).toMatch(name === undefined ? /^proc_/ : new RegExp(`^${name}/proc_`));
      }),
    );
    for (const { name, here, round } of calls)
      expect(await readFile(join(homeOf(name), 'p', 'app', `made-${round}.txt`), 'utf8')).toBe(
        `${here} ${round}`,
      );
    const found = await bridge().call('search_files', { query: 'on gpu', path: PATH, machine: 'gpu' });
    expect(found['matches']).toHaveLength(1);
    const none = await bridge().call('search_files', { query: 'on gpu', path: PATH });
    expect(none['matches']).toEqual([]);
  });

  test('work there where no folder of this machine is allowed', async () => {
    const near = await startBridge({
      claude: scriptedAgent,
      env: { MCP_MACHINES: JSON.stringify({ gpu: machine('gpu').setting }) },
      withoutRoots: true,
    });
    const read = await near.call('read_file', { path: `${PATH}/where.txt`, machine: 'gpu' });
    expect(read['content']).toBe('on gpu\n');
    expect(await near.refusal('read_file', { path: `${PATH}/where.txt` })).toContain('NO_ALLOWED_ROOTS');
  });

  test('follow a process by its id, which a cut line does not end', async () => {
    const { pid } = await bridge().call('spawn', {
      command: 'cat',
      cwd: PATH,
      machine: 'pod',
      background: true,
    });
    expect(await bridge().call('stdin', { pid, text: 'hello\n' })).toMatchObject({ pid, stdout: 'hello\n' });
    await machine('pod').cut();
    await until('the cut is seen', async () =>
      `${(await bridge().call('list_tasks')).note}`.includes('pod: unver'),
    );
    expect(await bridge().refusal('stdout', { pid })).toMatch(/^MACHINE_UNREACHABLE: /);
    await machine('pod').mend();
    expect((await bridge().call('kill', { pid }))['status']).toBe('terminated');
    expect(await bridge().call('stdout', { pid })).toMatchObject({ machine: 'pod', text: 'hello\n' });
    const { processes } = await bridge().call('ps', { machine: 'pod' });
    expect(JSON.stringify(processes)).toContain(JSON.stringify(pid));
  });
});

describe('a task on another machine', () => {
  test('is started, followed, answered and read by the tools of this one, with its machine in its id', async () => {
    const { task_id: id, cursor } = await start('gpu', 'split-prompt');
    expect(id).toMatch(/^gpu\/task_/);
    expect(cursor).toMatch(/^gpu\/task_[0-9a-f]{20}:\d+$/);
    await bridge().answerNext(id, { verdict: 'allow' });
    expect(await bridge().end(id)).toMatchObject({ task_id: id, status: 'completed' });
    expect((await bridge().output(id, 'log')).text).toContain('GOT:y');
    expect(await bridge().mcp.readResource(`logs://${id}`)).toContain('GOT:y');
    expect((await bridge().receipt(id)).final_message).toBeDefined();
    expect(await bridge().call('get_task_result', { task_id: id })).toMatchObject({
      task_id: id,
      machine: 'gpu',
    });
    expect(await bridge().ids()).toContain(id);
    expect(await bridge().mcp.listResources()).toContain(`logs://${id}`);
    // As a model copies it out of a sentence.
    expect(await bridge().call('get_task_result', { task_id: id.replace('gpu/', '') })).toMatchObject({
      task_id: id,
    });
  });

  test('asks the person at the client of this machine', async () => {
    const shown: string[] = [];
    const person = await bridge().another('modern', {
      person: ({ message }) => {
        shown.push(message);
        return {};
      },
    });
    const { task_id: id } = await start('pod', 'split-prompt');
    await until('the task has ended', async () => {
      const waited = waitedSchema.parse(await person.call('wait_for_task', { task_ids: [id] }));
      return waited.tasks[0]?.status === 'completed';
    });
    expect(shown).toHaveLength(1);
    expect(shown[0]).toContain('(task on pod in ');
    expect(await bridge().decided(id)).toEqual([expect.stringContaining('allow elicitation')]);
  });

  test('is held to the rows of the machine that starts it, too', async () => {
    const { task_id: id } = await start('pod', 'exit');
    await bridge().end(id);
    const spec = join(machine('pod').stateDir, 'tasks', id.replace('pod/', ''), 'spec.json');
    const { settings } = taskSpecSchema.parse(JSON.parse(await readFile(spec, 'utf8')));
    expect(settings.rules).toEqual([...asksAboutPrompts, ROW]);
  });

  test('is waited for together with tasks of other machines', async () => {
    const one = await start('gpu', 'never-exits');
    const two = await start('pod', 'exits-after 1500');
    const own = await bridge().agent('never-exits');
    const task_ids = [one.task_id, two.task_id, own];
    let cursor = [one.cursor, two.cursor].join(',');
    let ended: string | undefined;
    await until('the task on pod has ended', async () => {
      const waited = waitedSchema.parse(await bridge().call('wait_for_task', { task_ids, cursor }));
      cursor = waited.cursor;
      ended = waited.tasks.find(({ status }) => status === 'completed')?.task_id;
      return ended !== undefined;
    });
    expect(ended).toBe(two.task_id);
    await bridge().killAll();
    expect((await bridge().status(one.task_id)).status).toBe('killed');
  });

  test('goes on while the line is cut, which is told in true words and ends no wait', async () => {
    const { task_id: id, cursor } = await start('gpu', 'never-exits');
    await bridge().status(id);
    await machine('gpu').cut();
    const waited = waitedSchema.parse(
      await bridge().call('wait_for_task', { task_ids: [id], cursor, timeout_seconds: 2 }),
    );
    expect(waited.tasks[0]).toMatchObject({
      task_id: id,
      status: expect.stringMatching(/^(starting|running)$/),
      line: expect.stringMatching(/^unverifiable since \d\d:\d\d \(.+\); as of \d\d:\d\d$/),
    });
    expect(await bridge().refusal('kill_task', { task_id: id })).toMatch(/^MACHINE_UNREACHABLE: /);
    expect(await bridge().refusal('read_file', { path: `${PATH}/where.txt`, machine: 'gpu' })).toMatch(
      /^MACHINE_UNREACHABLE: /,
    );
    const list = await bridge().call('list_tasks', {});
    expect(list['note']).toMatch(/^gpu: unverifiable since /);
    expect(JSON.stringify(list['tasks'])).toContain(id);
    await machine('gpu').mend();
    await until(
      'the line is back',
      async () => (await bridge().status(id)).hint.includes('unverifiable') === false,
    );
    expect((await bridge().status(id)).status).toBe('running');
    await bridge().call('kill_task', { task_id: id });
    expect((await bridge().status(id)).status).toBe('killed');
  });
});

describeNewestClaude('Claude Code on another machine', ({ binary }) => {
  test('is held to the rules of both machines, and asks here what a rule of this one asks about', async () => {
    const model = new ScriptedModel();
    const api = await startScriptedApi(model.script);
    const row = (rule: string, verdict: string) => ({ rule, verdict, reason: `${verdict} by a person` });
    const there = async ({ homeDir, projectsDir, env }: Workplace) => {
      await writeClaudeHome(homeDir, { trustedProjects: [projectsDir] });
      return {
        ...scriptedClaudeEnvironment({ homeDir, apiUrl: api.url, path: env['PATH'] ?? '' }),
        MCP_CLAUDE_COMMAND: binary,
        MCP_RULES: JSON.stringify([row('Bash(touch of-there)', 'deny')]),
      };
    };
    const box = await farWorkplace(there);
    onTestFinished(async () => {
      await box.remove();
      await api.dispose();
    });
    const rules = [row('Bash(touch of-here)', 'deny'), row('Bash(mkdir *)', 'ask')];
    const near = await startBridge({
      claude: scriptedAgent,
      env: { MCP_MACHINES: JSON.stringify({ box: box.setting }), MCP_RULES: JSON.stringify(rules) },
    });
    const path = await box.project('app');
    model.does(
      runs('touch of-there'),
      runs('touch of-here'),
      runs('mkdir asked'),
      runs('touch free'),
      says('Done.'),
    );
    const id = await near.start({ path, machine: 'box', permission_mode: 'auto' });
    const asked = await near.answerNext(id, { verdict: 'allow' });
    expect(asked.summary).toContain('mkdir asked');
    expect(await near.end(id)).toMatchObject({ status: 'completed' });
    expect((await readdir(path)).filter((name) => !name.startsWith('.')).sort()).toEqual(['asked', 'free']);
    expect((await near.receipt(id)).final_message).toBe('Done.');
  });
});
