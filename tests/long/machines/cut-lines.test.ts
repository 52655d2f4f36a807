import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { isFinal, taskRecordSchema } from '../../../src/tasks/task.js';
import { connect } from '../../harness/mcp-clients.js';
import { runs, says } from '../../harness/scripted-turns.js';
import type { Cut, SshMachine } from '../../harness/ssh-machines.js';
import { startBridge } from '../../harness/start-bridge.js';
import { TaskClient } from '../../harness/task-client.js';
import { until } from '../../harness/until.js';
import { nearBoard, recordingOf } from './near-board.js';
import { describeMachines, sharedMachines } from './shared-machines.js';

const FLOODER = '/opt/machine/bin/flooder';
/** Prints some 150 kB a second until its project has the file `stop`. */
const FLOOD = `#!/bin/sh
[ "$1" = --version ] && { echo 'flooder 1.0'; exit 0; }
n=0
until [ -e stop ]; do
  n=$((n + 1))
  seq -f "part $n line %06.0f of what it says" 1 1500
  sleep 0.3
done
echo FLOOD END
`;
const CUTS = 20;
const kinds = ['link', 'stall', 'reset'] as const;
/** Some too short to be noticed, some long enough. */
const LENGTHS_MS = [500, 2_000, 4_000, 7_000, 11_000, 14_000, 17_000];
const PAGE_BYTES = 262_144;
const DECISIONS = 200;

/** A step of a task that goes on until its project has the file `stop`. */
const STEP = 'sleep 1; date; [ -e stop ] || echo "DO sh step.sh"\n';

describeMachines('a line that is cut', (claude) => {
  const machines = sharedMachines({
    claude,
    count: 2,
    env: { far1: { MCP_CLAUDE_COMMAND: FLOODER, MCP_MAX_LOG_SIZE: '500000000' } },
  });

  it('twenty times in a flood loses and repeats nothing of log, journal and recording', async () => {
    const { all, env, machine } = machines();
    await writeFile(join(machine(1).machineDir, 'bin', 'flooder'), FLOOD, { mode: 0o755 });
    const bridge = await startBridge({ claude, env });
    const tasks = await Promise.all(
      all.map(async (one) => {
        const path = await one.folder('flood');
        await writeFile(join(one.homeDir, basename(path), 'step.sh'), STEP);
        const id = await bridge.start({ machine: one.name, path, prompt: 'DO sh step.sh' });
        return { id, path, machine: one, reads: [follow(bridge, id, 'log'), follow(bridge, id, 'events')] };
      }),
    );
    const backMs: number[] = [];
    for (let cut = 0; cut < CUTS; cut++) {
      const kind = kinds[cut % kinds.length] ?? 'reset';
      const lengthMs = LENGTHS_MS[Math.floor(cut / kinds.length)] ?? 0;
      await Promise.all(all.map((one) => cutFor(one, kind, lengthMs)));
      const startMs = performance.now();
      await Promise.all(tasks.map(({ id }) => until('a call is answered', () => bridge.status(id))));
      backMs.push(Math.round(performance.now() - startMs));
    }
    process.stdout.write(`from the line back to the first answers, ms: ${backMs.join(' ')}\n`);
    const board = await nearBoard(bridge);
    for (const { id, path, machine: one, reads } of tasks) {
      await one.exec(['touch', `${path}/stop`]);
      expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
      const [log = '', journal = ''] = await Promise.all(reads);
      const there = await filesOf(one, id);
      expect(hashOf(log)).toBe(hashOf(there.log));
      expect(hashOf(journal)).toBe(hashOf(there.journal));
      expect(hashOf(await recordingOf(board, id))).toBe(hashOf(there.recording));
      expect(Math.max(log.length, journal.length)).toBeGreaterThan(20_000);
    }
  });
});

describeMachines('a decision of another machine', (claude) => {
  let turns = 0;
  const machines = sharedMachines({
    claude,
    count: 1,
    script: () => (turns++ < DECISIONS ? runs(`echo ${turns} >> ran.txt`) : says('Done.')),
  });

  it('stays open through two cuts, is told as unverifiable meanwhile, and its command runs once', async () => {
    turns = DECISIONS - 1;
    const machine = machines().machine(1);
    const bridge = await startBridge({ claude, env: machines().env });
    const path = await machine.folder('cut-decision');
    const id = await bridge.start({
      machine: machine.name,
      path,
      prompt: 'Go.',
      permission_mode: 'cautious',
    });
    const asked = await bridge.decision(id);
    for (const kind of ['link', 'stall'] as const) {
      await machine.cut(kind);
      const answer = { task_id: id, decision_id: asked.decision_id, verdict: 'allow' };
      const refused = await bridge.refusal('respond_to_task', { ...answer, decision_id: 'dec_99' });
      expect(refused).toMatch(/^MACHINE_UNREACHABLE: .* since \d\d:\d\d.*(Nothing was sent|is not known)/);
      expect(JSON.stringify(await bridge.call('list_tasks'))).toMatch(/unverifiable/);
      await machine.restore();
      const open = await until('it is reached', () => bridge.decision(id));
      expect(open.decision_id).toBe(asked.decision_id);
    }
    await bridge.respond(id, asked, { verdict: 'allow' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect(await machine.exec(['cat', `${path}/ran.txt`])).toBe(`${DECISIONS}\n`);
  });

  it('is answered once when a caller here and one there race, two hundred of two hundred', async () => {
    turns = 0;
    const machine = machines().machine(1);
    const bridge = await startBridge({ claude, env: machines().env });
    const path = await machine.folder('races');
    const more = { path, prompt: 'Go.', permission_mode: 'cautious', driver: 'print' };
    const id = await bridge.start({ machine: machine.name, ...more });
    const [command, ...args] = machine.inside(['claude-code-bridge']);
    const there = new TaskClient(await connect('modern', { command, args, cwd: '/', env: bridge.env }));
    const bareId = id.slice(id.indexOf('/') + 1);
    const winners: string[] = [];
    try {
      for (let round = 0; round < DECISIONS; round++) {
        const { decision_id } = await bridge.decision(id);
        // Neither is always first.
        const answers = await Promise.all([
          answer(bridge, { task_id: id, decision_id, verdict: 'allow' }, round % 3),
          answer(there, { task_id: bareId, decision_id, verdict: 'deny', message: 'No.' }, (round + 1) % 3),
        ]);
        expect(answers.filter((one) => one === 'answered')).toHaveLength(1);
        expect(answers.filter((one) => one.startsWith('DECISION_CLOSED'))).toHaveLength(1);
        winners.push(answers[0] === 'answered' ? 'allow' : 'deny');
      }
      expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
      expect(await bridge.decided(id)).toEqual(winners.map((verdict) => `Bash ${verdict} caller`));
    } finally {
      await there.mcp.close();
    }
    const ran = (await machine.exec(['cat', `${path}/ran.txt`])).trim().split('\n');
    expect(ran).toEqual(winners.flatMap((verdict, index) => (verdict === 'allow' ? [`${index + 1}`] : [])));
    expect(new Set(winners).size).toBe(2);
  });
});

/** Reads by cursor until the task has ended and there is no more; a page that is refused is asked for again. */
async function follow(client: TaskClient, id: string, view: 'log' | 'events'): Promise<string> {
  const pages: string[] = [];
  let cursor = '0';
  for (;;) {
    const isOver = await client.status(id).then(
      ({ status }) => isFinal(status),
      () => false,
    );
    const page = await client.output(id, view, { cursor, max_bytes: PAGE_BYTES }).catch(() => undefined);
    if (page === undefined) {
      await pause(100);
      continue;
    }
    pages.push(page.text);
    cursor = page.cursor;
    if (isOver && !page.more && page.text === '') return pages.join('');
  }
}

async function cutFor(machine: SshMachine, kind: Cut, lengthMs: number): Promise<void> {
  await machine.cut(kind);
  if (kind === 'reset') return;
  await pause(lengthMs);
  await machine.restore();
}

/** What the machine itself has, without what was typed. */
async function filesOf(
  machine: SshMachine,
  id: string,
): Promise<Readonly<Record<'log' | 'journal' | 'recording', string>>> {
  const folder = join(machine.stateDir, 'tasks', id.slice(id.indexOf('/') + 1));
  const read = (path: string): Promise<string> => readFile(path, 'utf8');
  const { log_file } = taskRecordSchema.parse(JSON.parse(await read(join(folder, 'record.json'))));
  const recording = await read(join(folder, 'terminal.cast'));
  return {
    log: await read(log_file.replace('/home/dev', machine.homeDir)),
    journal: await read(join(folder, 'journal.ndjson')),
    recording: recording
      .split('\n')
      .filter((line) => !/^\[[\d.]+, ?"i"/.test(line))
      .join('\n'),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** What became of an answer: `answered`, or why not. */
async function answer(
  client: TaskClient,
  args: Readonly<Record<string, unknown>>,
  delayMs: number,
): Promise<string> {
  await pause(delayMs);
  return client.call('respond_to_task', args).then(
    () => 'answered',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}
