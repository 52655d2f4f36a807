import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { systemCodeOf } from '../../../src/base/errors.js';
import { seededRandom } from '../../harness/seeded-random.js';
import { asksEnv } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { Caller, LIST_LIMIT } from './caller.js';
import { checkHistory } from './check-history.js';
import { allEnded, lastLook, nothingLeft } from './end-of-history.js';
import { FaultyServer } from './faulty-server.js';
import { Faults } from './faults.js';
import type { AgentMark, Call, History } from './history.js';
import { canMakeNamespaces, makePidNamespace } from './pid-namespace.js';
import { Recorder } from './recorder.js';

const owningAgent = fileURLToPath(new URL('../../fixtures/programs/owning-agent.sh', import.meta.url));
const failures = fileURLToPath(new URL('../../../.cache/histories/', import.meta.url));

const PROJECTS = ['one', 'two', 'three'];
const CALLERS = 4;
/** Between two errors so many calls are answered, at most: a round takes as long as the machine needs for them. */
const MAX_CALLS_BETWEEN = 12;

/**
 * Several clients call three servers on one state folder, one of them in another pid namespace, while servers and keepers are
 * killed and stopped and clocks jump, `rounds` times. Then all of it must fit the model, every task must have its end, and
 * nothing may be left. What does not fit is named with the seed and a file that holds the whole history. Gives what happened, in words.
 */
export async function checkedHistory(rounds: number, seed: number): Promise<string> {
  const bridge = await startBridge({
    claude: owningAgent,
    projects: PROJECTS,
    env: { MCP_TASK_HISTORY_SIZE: `${LIST_LIMIT}`, ...asksEnv },
  });
  await bridge.mcp.close();
  const namespace = canMakeNamespaces ? await makePidNamespace() : undefined;
  const servers = [
    // The first to look in the end: it alone knows at once which of the keepers in its namespace are gone.
    new FaultyServer(bridge, namespace === undefined ? 'first' : 'inside', namespace),
    new FaultyServer(bridge, 'second'),
    new FaultyServer(bridge, 'third'),
  ];
  const recorder = new Recorder();
  const faults = new Faults({ servers, workplace: bridge.workplace, random: seededRandom(seed) });
  const seen = async (): Promise<History> => ({ calls: recorder.calls, marks: await marksOf(bridge) });
  try {
    await underFaults({ bridge, servers, recorder, faults, rounds, seed });
    await allEnded(servers, recorder);
    await lastLook(servers, recorder);
    const history = await seen();
    expect(checkHistory(history)).toEqual([]);
    await nothingLeft(bridge, servers, recorder);
    return wordsOf(history, faults, namespace !== undefined);
  } catch (error) {
    const file = await written(await seen(), faults, seed);
    throw new Error(`SOAK_SEED=${seed}: ${file} holds the history`, { cause: error });
  } finally {
    await faults.over();
    await namespace?.end();
  }
}

interface Run {
  readonly bridge: TestBridge;
  readonly servers: readonly FaultyServer[];
  readonly recorder: Recorder;
  readonly faults: Faults;
  readonly rounds: number;
  readonly seed: number;
}

async function underFaults({ bridge, servers, recorder, faults, rounds, seed }: Run): Promise<void> {
  await Promise.all(servers.map((server) => server.running));
  let isOver = false;
  const callers = Array.from({ length: CALLERS }, (_, index) =>
    new Caller({
      name: `c${index + 1}`,
      servers,
      projects: bridge.projects,
      recorder,
      random: seededRandom(seed * CALLERS + index),
    }).runUntil(() => isOver),
  );
  const random = seededRandom(seed + 1);
  try {
    for (let round = 0; round < rounds; round++) {
      await recorder.more(1 + Math.floor(random() * MAX_CALLS_BETWEEN));
      await faults.next();
    }
    // A history without an answer that was taken would say nothing of answers; without errors one comes soon.
    await faults.over();
    await expect.poll(() => takenAnswers(recorder.calls), { timeout: 60_000 }).not.toEqual([]);
  } finally {
    isOver = true;
    await faults.over();
    await Promise.all(callers);
  }
}

function takenAnswers(calls: readonly Call[]): Call[] {
  return calls.filter(({ response, answer }) => response !== undefined && answer.kind === 'tasks');
}

async function marksOf(bridge: TestBridge): Promise<AgentMark[]> {
  const marks = bridge.projects.map(async (project) => {
    const text = await readFile(join(project, 'agent-marks'), 'utf8').catch((error: unknown) => {
      // No agent began there.
      if (systemCodeOf(error) === 'ENOENT') return '';
      throw error;
    });
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => markOf(project, line));
  });
  return (await Promise.all(marks)).flat();
}

function markOf(project: string, line: string): AgentMark {
  const [label = '', mark, step, ...text] = line.split(' ');
  if (mark === 'begin' || mark === 'overlap' || mark === 'end') return { project, label, mark };
  if (mark === 'answer') return { project, label, mark, step: Number(step), text: text.join(' ') };
  throw new Error(`a line of no agent: ${line}`);
}

function wordsOf({ calls, marks }: History, faults: Faults, hasNamespace: boolean): string {
  const count = (tool: string): number => calls.filter((call) => call.tool === tool).length;
  const taken = takenAnswers(calls);
  return [
    `${calls.length} calls (${count('start_task')} starts, ${count('respond_to_task')} answers of which ${taken.length} were taken)`,
    `${marks.filter(({ mark }) => mark === 'begin').length} agents, ${faults.log.length} faults`,
    hasNamespace ? 'two pid namespaces' : 'NO SECOND PID NAMESPACE: unshare is refused here',
  ].join(', ');
}

async function written({ calls, marks }: History, faults: Faults, seed: number): Promise<string> {
  await mkdir(failures, { recursive: true });
  const file = join(failures, `${seed}.ndjson`);
  const lines = [...calls, ...marks, ...faults.log].map((one) => `${JSON.stringify(one)}\n`);
  await writeFile(file, lines.join(''));
  return file;
}
