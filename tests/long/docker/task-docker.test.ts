import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import Docker from 'dockerode';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { TASK_LABEL } from '../../../src/processes/docker/container-options.js';
import { claudeImage, newestClaude } from '../../harness/claude-image.js';
import { describeDocker, dockerEnv } from '../../harness/docker-engine.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type BridgeOptions, type TestBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

/** A file of the image that this machine does not have. */
const ONLY_INSIDE = '/bin/[[';
const WHERE = `[ -e "${ONLY_INSIDE}" ] && echo inside > where.txt || echo outside > where.txt`;
/** A command that is in the middle of its work until it is ended. */
const WORKS_ON = 'echo begun > begun.txt; sleep 600';
/** It is 400 MB, which a machine that is busy with other tests writes three times. */
const IMAGE_LIMIT_MS = 120_000;
const FIVE_MESSAGES = 5;

const receiptSchema = z.object({
  receipt: z.looseObject({ decisions: z.array(z.unknown()), usage: z.looseObject({}) }),
});

describeDocker('a task in a container', (engine) => {
  let image = '';
  beforeAll(async () => {
    image = await claudeImage(engine, newestClaude());
  }, IMAGE_LIMIT_MS);

  it('does and tells what a task on this machine does, and is gone on with where it was', async () => {
    const bridge = await inContainer(image, {
      script: [
        runs(WHERE, 'I will.'),
        says('All written.'),
        runs(WHERE, 'I will.'),
        says('All written.'),
        says('As I said.'),
      ],
    });
    const receiptOf = async (id: string): Promise<unknown> => {
      expect(await bridge.end(id)).toMatchObject({
        status: 'completed',
        exit_code: 0,
        last_output: 'All written.',
      });
      const { receipt } = receiptSchema.parse(await bridge.call('get_task_result', { task_id: id }));
      // The first task in a container has its folder to be trusted, which a person did before on this machine.
      // Claude Code reports the cost to its status line, which a container's session does not have.
      const usage = { ...receipt.usage, cost_usd: 0 };
      return shapeOf({ ...receipt, usage, decisions: [] });
    };
    const inside = await bridge.start({ isolation: 'docker' });
    const there = await receiptOf(inside);
    expect(await bridge.read('where.txt')).toBe('inside\n');
    expect(await containersOf(inside)).toEqual([]);

    const outside = await bridge.start();
    expect(there).toEqual(await receiptOf(outside));
    expect(await bridge.read('where.txt')).toBe('outside\n');

    expect(
      await bridge.refusal('start_task', { prompt: 'On.', path: bridge.project, continue_from: inside }),
    ).toMatch(/^INVALID_ARGUMENTS: .* worked in a container/);
    const next = await bridge.start({ isolation: 'docker', continue_from: inside });
    expect(await bridge.end(next)).toMatchObject({ status: 'completed', last_output: 'As I said.' });
    // The first prompt, the command and its result, the answer, and the new prompt.
    expect(bridge.api.requests.at(-1)?.messageCount).toBeGreaterThanOrEqual(FIVE_MESSAGES);
  });

  it('has its checks run in its container, without the keys of its session, and nothing of them is left', async () => {
    const bridge = await inContainer(image, {
      script: [says('Done.')],
      env: { MCP_TOOLSETS: 'tasks,checks' },
    });
    const checks = [
      { name: 'inside', command: `[ -e "${ONLY_INSIDE}" ] && echo made > made.txt` },
      { name: 'fails', command: 'echo said; echo wrong >&2; exit 3' },
      { name: 'slow', command: 'setsid sleep 300 & sleep 300', timeout_seconds: 2 },
      { name: 'leaves', command: 'setsid sleep 300 & echo begun' },
      { name: 'alone', command: '! grep -qsF "sleep" /proc/*/comm && ! env | grep -q ANTHROPIC_API_KEY' },
    ];
    const id = await bridge.start({ isolation: 'docker', checks });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect((await bridge.call('get_task_result', { task_id: id })).checks).toMatchObject({
      results: [
        { verdict: 'met' },
        { verdict: 'not met', why: 'exit code 3', output: 'said\nwrong' },
        { verdict: 'not met', why: 'it ran longer than 2 s and was ended' },
        { verdict: 'met' },
        { verdict: 'met' },
      ],
    });
    expect(await bridge.read('made.txt')).toBe('made\n');
    expect(await containersOf(id)).toEqual([]);
    expect((await bridge.call('verify_task', { task_id: id })).checks).toMatchObject({
      summary: '0 of 5 checks met',
    });
  });

  it('leaves no container when it is killed, or its keeper is', async () => {
    const bridge = await inContainer(image, { script: () => runs(WORKS_ON) });
    const killed = await begun(bridge);
    await bridge.call('kill_task', { task_id: killed });
    expect(await bridge.end(killed)).toMatchObject({ status: 'killed' });
    expect(await containersOf(killed)).toEqual([]);

    const orphan = await begun(bridge);
    await bridge.killKeeper(orphan);
    expect(await bridge.end(orphan)).toMatchObject({ status: 'error' });
    await until('its container is gone', async () => expect(await containersOf(orphan)).toEqual([]));
  });

  it('is refused without an image, with one that is not there, and without an engine, and says what to do', async () => {
    const refusal = async (env: Readonly<Record<string, string>>): Promise<string> => {
      const bridge = await startBridge({ claude: 'claude', env: { ...dockerEnv(), ...env } });
      return bridge.refusal('start_task', { prompt: 'Do it.', path: bridge.project, isolation: 'docker' });
    };
    expect(await refusal({})).toContain('MCP_TASK_CONTAINER');
    expect(await refusal({ MCP_TASK_CONTAINER: '{"image":"no-such-image:1"}' })).toContain(
      'docker pull no-such-image:1',
    );
    expect(
      await refusal({
        MCP_TASK_CONTAINER: JSON.stringify({ image: engine.nodeImage }),
        DOCKER_HOST: 'unix:///nowhere.sock',
      }),
    ).toMatch(/unix:\/\/\/nowhere\.sock \(DOCKER_HOST\) does not answer/);
  });
});

/** A task in the middle of a command. */
async function begun(bridge: TestBridge): Promise<string> {
  await rm(join(bridge.project, 'begun.txt'), { force: true });
  const id = await bridge.start({ isolation: 'docker' });
  await bridge.until(id, async ({ decisions }) => {
    const [open] = decisions;
    if (open !== undefined) await bridge.respond(id, open, { verdict: 'allow' });
    return bridge.has('begun.txt') && (await containersOf(id)).length === 1;
  });
  return id;
}

/** A server whose tasks find the CLI in an image; the engine of the tests has no network but the machine's. */
function inContainer(image: string, options: Omit<BridgeOptions, 'claude'>): Promise<TestBridge> {
  return startBridge({
    ...options,
    claude: newestClaude().binary,
    env: { ...dockerEnv(), MCP_TASK_CONTAINER: JSON.stringify({ image, network: 'host' }), ...options.env },
  });
}

async function containersOf(taskId: string): Promise<string[]> {
  const found = await new Docker().listContainers({
    all: true,
    filters: { label: [`${TASK_LABEL}=${taskId}`] },
  });
  return found.flatMap(({ Names }) => Names);
}

/** Names and kinds of what is in there, without the values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one)]));
}
