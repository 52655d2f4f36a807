import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { requestKey } from '../../../src/store/requests.js';
import { repository } from '../../harness/project-files.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { quickAgent } from '../../harness/scripted-agent.js';
import { asks, says } from '../../harness/scripted-turns.js';
import { sharedBridge, startBridge, type TestBridge } from '../../harness/start-bridge.js';
import type { TaskClient } from '../../harness/task-client.js';
import { until } from '../../harness/until.js';

const RACES = 20;
const KILLS = 5;
type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/** What names what was done. */
function idIn(answer: Readonly<Record<string, unknown>>): unknown {
  return answer['task_id'] ?? answer['pid'] ?? answer['sha256'];
}

/** The same call by all servers at once: all get the same answer. Gives it. */
async function raced(servers: readonly TaskClient[], [tool, args]: Call): Promise<unknown> {
  const ids = await Promise.all(servers.map(async (server) => idIn(await server.call(tool, args))));
  expect(new Set(ids).size).toBe(1);
  return ids[0];
}

/** A server gets the call and is killed when the request is on disk; then the call is repeated. */
async function cut(bridge: TestBridge, [tool, args]: Call): Promise<Readonly<Record<string, unknown>>> {
  const server = await bridge.another();
  const lost = server.call(tool, args).catch(() => undefined);
  const file = join(bridge.workplace.stateDir, 'requests', requestKey(String(args['request_id'])));
  await until('the request is noted', () => existsSync(join(file, 'request.json')));
  process.kill(server.mcp.pid, 'SIGKILL');
  await lost;
  return bridge.call(tool, args);
}

describe('a call with a request_id', () => {
  const bridge = sharedBridge({ claude: quickAgent, env: { MCP_TOOLSETS: 'tasks,files,process,project' } });

  it('starts one task, process or write for two servers at once, and is the same answer', async () => {
    const servers = [bridge(), await bridge().another()];
    for (let race = 0; race < RACES; race++) {
      const cwd = await bridge().newProject('race');
      const request_id = (tool: string) => ({ request_id: `${tool} ${race}` });
      const start = { prompt: 'AGENT: exit 0', path: cwd, on_conflict: 'queue' };
      const task = await raced(servers, ['start_task', { ...start, ...request_id('start') }]);
      expect(await bridge().ids({ path: cwd })).toEqual([task]);
      const line = { command: 'echo once >> trace', shell: true, cwd };
      await raced(servers, ['spawn', { ...line, keep: true, ...request_id('keep') }]);
      await raced(servers, ['spawn', { ...line, ...request_id('spawn') }]);
      expect(await readFile(join(cwd, 'trace'), 'utf8')).toBe('once\nonce\n');
      await raced(servers, [
        'write_file',
        { path: join(cwd, 'a'), content: `${race}`, ...request_id('write') },
      ]);
    }
    await bridge().killAll();
  });

  it('of a server that is killed in the middle is done once by the next one', async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const cwd = await bridge().newProject('kill');
      const start = { prompt: 'AGENT: exit 0', path: cwd, on_conflict: 'queue', request_id: `s${kill}` };
      const task = await cut(bridge(), ['start_task', start]);
      expect(await bridge().ids({ path: cwd })).toEqual([task['task_id']]);
      await bridge().end(String(task['task_id']));
      const line = { command: 'echo once >> trace', shell: true, cwd, keep: true, request_id: `k${kill}` };
      expect(await cut(bridge(), ['spawn', line])).toMatchObject({ status: 'terminated', exit_code: 0 });
      expect(await readFile(join(cwd, 'trace'), 'utf8')).toBe('once\n');
      const file = { path: join(cwd, 'a'), content: 'text', request_id: `w${kill}` };
      expect(await cut(bridge(), ['write_file', file])).toMatchObject({ created: true });
      expect(await readFile(file.path, 'utf8')).toBe('text');
    }
  });

  it('leaves a process with keep alone when its caller is lost, who gets its end by the next call', async () => {
    const server = await bridge().another();
    const cwd = await bridge().newProject('lost');
    const line = {
      command: 'touch begun; sleep 3; touch done',
      shell: true,
      cwd,
      keep: true,
      timeout_seconds: 30,
    };
    const lost = server.call('spawn', { ...line, request_id: 'lost' }).catch(() => undefined);
    await until('it runs', () => existsSync(join(cwd, 'begun')));
    await server.mcp.close();
    await lost;
    expect(await bridge().call('spawn', { ...line, request_id: 'lost' })).toMatchObject({ exit_code: 0 });
    expect(existsSync(join(cwd, 'done'))).toBe(true);
  });

  it('is refused with other arguments, and with an id that is too long', async () => {
    const spawn = { command: 'true', cwd: bridge().project, request_id: 'one' };
    const { pid } = await bridge().call('spawn', spawn);
    expect(await bridge().call('spawn', spawn)).toMatchObject({ pid });
    expect(await bridge().refusal('spawn', { ...spawn, command: 'false' })).toMatch(
      /^INVALID_ARGUMENTS: This request_id was used for a call with other arguments/,
    );
    expect(await bridge().refusal('spawn', { ...spawn, request_id: 'x'.repeat(101) })).toMatch(
      /^INVALID_ARGUMENTS: .*request_id/,
    );
  });
});

describeNewestClaude('a call with a request_id to the newest CLI', ({ binary }) => {
  it('sends a message once and takes an answer once, for two servers at once and after a kill', async () => {
    const rounds = [1, 2, 3, 4, 5, 6];
    const script = [
      says('Ready.'),
      ...rounds.flatMap((at) => [asks('Which?', ['This', 'That']), says(`Done ${at}.`)]),
    ];
    const bridge = await startBridge({ claude: binary, script });
    const servers = [bridge, await bridge.another()];
    const task_id = await bridge.start({ keep_open: true });
    await bridge.until(task_id, (view) => view.status === 'waiting');
    for (const at of rounds) {
      const message: Call = ['message_task', { task_id, text: `Do ${at}.`, request_id: `m${at}` }];
      if (at % 2 === 0) await cut(bridge, message);
      else await raced(servers, message);
      const { decision_id } = await bridge.decision(task_id);
      const answer = { task_id, decision_id, verdict: 'allow', answers: { Choice: 'This' } };
      const respond: Call = ['respond_to_task', { ...answer, request_id: `a${at}` }];
      if (at % 2 === 0) await cut(bridge, respond);
      else await raced(servers, respond);
      await bridge.until(task_id, (view) => view.status === 'waiting' && view.last_output === `Done ${at}.`);
      for (const [tool, args] of [message, respond]) await bridge.call(tool, args);
      expect(await bridge.refusal('respond_to_task', { ...answer, request_id: `other ${at}` })).toMatch(
        /^DECISION_CLOSED/,
      );
    }
    expect(bridge.api.turnsServed).toBe(script.length);
    const { text } = await bridge.output(task_id, 'log');
    expect(text.match(/Message: Do \d\./g)).toEqual(rounds.map((at) => `Message: Do ${at}.`));
    await bridge.call('kill_task', { task_id });
    // The task is over, and both were done all the same.
    expect(await bridge.call('message_task', { task_id, text: 'Do 1.', request_id: 'm1' })).toMatchObject({
      status: 'killed',
    });
  });
});

it('a request_id merges the work of a task once, for two servers at once and after a kill', async () => {
  const bridge = await startBridge({ claude: quickAgent });
  const { project } = bridge;
  await repository(project);
  const servers = [bridge, await bridge.another()];
  for (let round = 0; round < KILLS; round++) {
    const task_id = await bridge.agent('exit 0', { on_conflict: 'always_worktree' });
    await bridge.end(task_id);
    await writeFile(join(project, '.claude', 'worktrees', task_id, `${round}.txt`), 'work\n');
    const { reviewed } = await bridge.call('get_task_result', { task_id });
    const finish: Call = ['finish_task', { task_id, action: 'merge', reviewed, request_id: `f${round}` }];
    if (round % 2 === 0) await raced(servers, finish);
    else {
      // It is killed when it begins: that no one knows how far it came is said, and it is not done again.
      const first = await cut(bridge, finish).catch(String);
      if (typeof first === 'string')
        expect(first).toContain('OUTCOME_UNKNOWN: The server that began to merge');
      if (!bridge.has(`${round}.txt`))
        await bridge.call('finish_task', { ...finish[1], request_id: `another ${round}` });
    }
    expect(bridge.has(`${round}.txt`)).toBe(true);
    const words = ['log', '--no-merges', '--format=%s', '--', `${round}.txt`];
    expect(execFileSync('git', words, { cwd: project, encoding: 'utf8' }).trim().split('\n')).toHaveLength(1);
  }
});
