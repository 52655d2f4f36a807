import { appendFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { farWorkplace } from '../../harness/far-workplace.js';
import { repository } from '../../harness/project-files.js';
import { asksEnv, program, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';
import { nearBoard } from './near-board.js';

const ENTRIES = 20;
/** Longer than an entry takes: one at a time. */
const BETWEEN_MS = 300;
/** Half of them, on a machine that does other things, too. */
const FRESH_MS = 150;

test('the page of a task on another machine has an entry of its journal as soon as one of a task here', async () => {
  const agent = program('agent', `exec '${process.execPath}' '${scriptedAgent}' "$@"`);
  const there = await farWorkplace(async (place) => ({ ...asksEnv, MCP_CLAUDE_COMMAND: await agent(place) }));
  onTestFinished(async () => {
    await there.settled();
    await there.remove();
  });
  const project = join(there.projectsDir, 'app');
  await repository(project);
  const bridge = await startBridge({
    claude: scriptedAgent,
    env: { MCP_MACHINES: JSON.stringify({ gpu: there.setting }) },
  });
  const id = await bridge.start({ machine: 'gpu', path: project, prompt: 'AGENT: split-prompt' });
  const board = await nearBoard(bridge);
  const seen = new Map<string, number>();
  const following = board.follow(`task:/${id}`, {
    changed: (values) => {
      for (const key of values.keys()) if (!seen.has(key)) seen.set(key, performance.now());
    },
  });
  await bridge.decision(id);
  await until('it is shown', () => seen.has('decision/dec_1'));
  const journal = join(there.stateDir, 'tasks', basename(id), 'journal.ndjson');
  const delaysMs: number[] = [];
  for (let seq = 900; seq < 900 + ENTRIES; seq++) {
    const startMs = performance.now();
    await appendFile(journal, `${JSON.stringify({ seq, at: new Date().toISOString(), type: 'note' })}\n`);
    await until('the entry is shown', () => seen.has(`event/${seq}`));
    delaysMs.push(Math.round((seen.get(`event/${seq}`) ?? Infinity) - startMs));
    await pause(BETWEEN_MS);
  }
  following.dispose();
  process.stdout.write(`from an entry there to the page here, ms: ${delaysMs.join(' ')}\n`);
  delaysMs.sort((a, b) => a - b);
  expect(delaysMs[ENTRIES / 2]).toBeLessThan(FRESH_MS);
  await bridge.call('kill_task', { task_id: id });
});
