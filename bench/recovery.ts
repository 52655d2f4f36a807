import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTaskId } from '../src/base/ids.js';
import { initialRecord } from '../src/tasks/record/initial-record.js';
import { figuresOf, type Figures } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, type Workplace } from './workplace.js';

const RECORDS = 200;
const ROUNDS = 15;

export interface RecoveryFigures {
  readonly emptyMs: Figures;
  readonly fullMs: Figures;
  readonly ratio: number;
}

/** Process start to `initialize` answered, with no record and with 200 of tasks whose keepers are dead. */
export async function measureRecovery(): Promise<RecoveryFigures> {
  const times = { empty: new Array<number>(), full: new Array<number>() };
  const workplace = await createWorkplace();
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      const empty = await startOnce(workplace, 0);
      const full = await startOnce(workplace, RECORDS);
      // The first round fills the disk cache.
      if (round === 0) continue;
      times.empty.push(empty);
      times.full.push(full);
    }
  } finally {
    workplace.dispose();
  }
  const emptyMs = figuresOf(times.empty);
  const fullMs = figuresOf(times.full);
  return { emptyMs, fullMs, ratio: fullMs.median / emptyMs.median };
}

/** With a state of its own: what an earlier server settled would not be looked at again. */
async function startOnce(workplace: Workplace, records: number): Promise<number> {
  rmSync(join(workplace.folder, 'state'), { recursive: true, force: true });
  for (let index = 0; index < records; index++) writeDeadTask(workplace);
  const startMs = performance.now();
  const client = new StdioClient(BRIDGE, workplace.env);
  await client.initialize();
  const ms = performance.now() - startMs;
  await client.close();
  return ms;
}

function writeDeadTask(workplace: Workplace): void {
  const task_id = createTaskId();
  const folder = join(workplace.folder, 'state', 'tasks', task_id);
  mkdirSync(folder, { recursive: true });
  const project_path = workplace.project('app');
  const record = initialRecord({
    spec: {
      task_id,
      project_path,
      permission_mode: 'auto',
      driver: 'interactive',
      model: null,
      keep_open: false,
      timeout_seconds: 3_600,
      created_at: new Date().toISOString(),
      settings: {
        shell: '/bin/sh',
        claude_command: ['/bin/true'],
        auto_approve_patterns: [],
        decision_timeout_seconds: 600,
        max_log_size_bytes: 1_000_000,
        pass_environment: [],
      },
    },
    prompt: 'Do it.',
    owner: { pid: 1, start_time: 'never', boot_id: 'an earlier boot' },
    mark: task_id,
    socketPath: join(workplace.folder, 'none.sock'),
    files: { logFile: join(project_path, 'task.log'), promptFile: join(project_path, 'prompt.md') },
    now: Date.now(),
  });
  writeFileSync(join(folder, 'record.json'), JSON.stringify({ ...record, status: 'running' }));
}
