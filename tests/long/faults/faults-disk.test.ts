import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { isFinal } from '../../../src/tasks/task.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import type { TaskClient } from '../../harness/task-client.js';
import { until } from '../../harness/until.js';
import { createWorkplace } from '../../harness/workplace.js';

const failsOnce = fileURLToPath(new URL('../../fixtures/programs/fails-once.cjs', import.meta.url));

/** The kinds of calls that are made to fail, each with the error that a disk gives to it. */
const faultKinds = { open: 'EIO', write: 'ENOSPC', fsync: 'EIO', rename: 'ENOSPC', symlink: 'ENOSPC' };

type FaultyProgram = 'keeper' | 'server';

const entries = { keeper: 'keeper.js', server: 'main.js' };
/** A short task makes far fewer calls of one kind. */
const MAX_CALLS = 500;
const MAX_PAGE_BYTES = 262_144;
const startedSchema = z.object({ task_id: z.string() });

/**
 * Runs a short task again and again; in each run the n-th call of one kind fails once, in the keeper or in the server, for
 * n = 1, 1 + `step` and so on until the program makes no such call any more. After each run another server looks: the task is
 * refused with words or has one true end, nothing is left behind, and the next task runs in the same project. Gives how many
 * calls were made to fail.
 */
async function faultRounds(
  program: FaultyProgram,
  kind: keyof typeof faultKinds,
  step: number,
): Promise<number> {
  const workplace = await createWorkplace();
  const plan = join(workplace.root, 'plan.json');
  await writeFile(plan, JSON.stringify({ below: [] }));
  const bridge = await startBridge({ claude: scriptedAgent, workplace });
  const env = { NODE_OPTIONS: `--require=${failsOnce}`, FAILS_ONCE_PLAN: plan };
  const faulty = program === 'keeper' ? await bridge.another('modern', { env }) : undefined;
  let hits = 0;
  for (let n = 1; n < MAX_CALLS; n += step) {
    const below = [workplace.stateDir, workplace.projectsDir];
    await writeFile(
      plan,
      JSON.stringify({ program: entries[program], kind, n, code: faultKinds[kind], below }),
    );
    try {
      await oneRun(bridge, env, faulty);
    } catch (error) {
      const hit = await readFile(`${plan}.hit`, 'utf8').catch(() => 'nothing failed yet');
      throw new Error(`${program}: ${kind} ${n}: ${String(error)}\n${hit}`, { cause: error });
    }
    if (!(await wasHit(plan))) return hits;
    hits++;
  }
  throw new Error(`${program}: more than ${MAX_CALLS} calls of ${kind}`);
}

async function wasHit(plan: string): Promise<boolean> {
  const hit = await readFile(`${plan}.hit`, 'utf8').catch(() => undefined);
  await rm(`${plan}.hit`, { force: true });
  return hit !== undefined;
}

/** `faulty` is the server that is asked; without one a server of this run's own is. */
async function oneRun(
  bridge: TestBridge,
  env: Readonly<Record<string, string>>,
  faulty?: TaskClient,
): Promise<void> {
  const before = await bridge.ids();
  const isOwn = faulty === undefined;
  const caller = faulty ?? (await bridge.another('modern', { env }));
  const answer = await caller.mcp.callTool('start_task', { prompt: 'AGENT: exit 0', path: bridge.project });
  if (answer.isError === true) {
    expect(answer.content.map(({ text }) => text).join('\n')).toMatch(/^[A-Z_]+: .*(ENOSPC|EIO|disk)/s);
  } else {
    const { task_id: id } = startedSchema.parse(answer.structuredContent);
    await caller.mcp.callTool('wait_for_task', { task_ids: [id], timeout_seconds: 20 });
    await judge(bridge, id);
  }
  if (isOwn) await caller.mcp.close();
  await until('nothing runs but the servers', async () =>
    expect(await bridge.workplace.processes()).toHaveLength(isOwn ? 1 : 2),
  );
  const listed = (await bridge.ids()).filter((id) => !before.includes(id));
  if (answer.isError === true) expect(listed).toEqual([]);
  else expect(listed).toHaveLength(1);
  expect(await readdir(join(bridge.workplace.stateDir, 'locks'))).toEqual([]);
}

/** Another server sees one true end, and the files on disk say the same. */
async function judge(bridge: TestBridge, id: string): Promise<void> {
  const end = await bridge.end(id);
  expect(['completed', 'failed', 'error'], end.reason).toContain(end.status);
  if (end.status === 'completed') expect(end.exit_code).toBe(0);
  else expect(end.reason).toMatch(/ENOSPC|EIO/);
  const record = await bridge.record(id);
  expect([isFinal(record.status), record.status]).toEqual([true, end.status]);
  if (end.status !== 'completed') return;
  expect(`${await readFile(record.log_file, 'utf8')}${record.storage ?? ''}`).toMatch(/exiting with 0|lost/);
  const page = await bridge.output(id, 'events', { cursor: '0', max_bytes: MAX_PAGE_BYTES });
  const seqs = page.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => z.looseObject({ seq: z.number() }).parse(JSON.parse(line)).seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
}

/** Some thirty short tasks, each of which takes a second or more on a busy machine. */
const LIMIT_MS = 400_000;

/** Every fourth call fails; the long form takes each. */
const STEP = process.env['SOAK'] === '1' ? 1 : 4;

const kinds = ['open', 'write', 'fsync', 'rename'] as const;
const cases = (['keeper', 'server'] as const).flatMap((program) =>
  // A lease is a symbolic link, and the server takes it.
  [...kinds, ...(program === 'server' ? (['symlink'] as const) : [])].map((kind) => ({ program, kind })),
);

it.each(cases)(
  'whichever $kind of a $program fails once, its task is refused with words or has one true end',
  { timeout: LIMIT_MS },
  async ({ program, kind }) => {
    const hits = await faultRounds(program, kind, STEP);
    process.stderr.write(`${program}: ${hits} calls of ${kind}, each failed once with ${faultKinds[kind]}\n`);
    expect(hits).toBeGreaterThan(0);
  },
);
