import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { Journal } from '../../src/store/journal.js';
import type { JournalEntry } from '../../src/store/journal-line.js';
import { readJournal } from '../../src/store/journal-reader.js';
import { StateDir } from '../../src/store/state-dir.js';
import { ReadableLog } from '../../src/tasks/run/task-story.js';
import { RecordWriter } from '../../src/tasks/record/record-writer.js';
import { taskRecordSchema, type TaskRecord } from '../../src/tasks/task.js';
import { TaskRun } from '../../src/tasks/run/task-run.js';
import type { RuleVerdict, TaskRunParts } from '../../src/tasks/run/run-state.js';
import { ManualClock } from '../harness/manual-clock.js';
import { FakeDriver } from './fake-driver.js';
import { sampleRecord, sampleSpec, TASK_ID } from './sample-task.js';
import { tempFolder } from '../harness/temp-folder.js';

const ask: RuleVerdict = { verdict: 'ask', rule: 'a-rule', reason: 'it must be asked' };

export interface RunHarness {
  readonly run: TaskRun;
  readonly driver: FakeDriver;
  readonly clock: ManualClock;
  /** What happened around the run's end, in order. */
  readonly steps: string[];
  readonly told: TaskRecord[];
  readonly log: () => string;
  readonly journal: () => Promise<readonly JournalEntry[]>;
  readonly onDisk: () => Promise<TaskRecord>;
}

/** A run over a fake session and a clock that stands still; journal and record are real files. */
export async function createRun(
  options: {
    readonly spec?: Parameters<typeof sampleSpec>[0];
    readonly check?: TaskRunParts['check'];
    readonly rules?: TaskRunParts['rules'];
    readonly leftovers?: number;
    readonly spentByOthers?: TaskRunParts['spentByOthers'];
    /** False: Claude Code stored nothing of the session. */
    readonly isStored?: boolean;
  } = {},
): Promise<RunHarness> {
  const folder = await tempFolder();
  const clock = new ManualClock();
  const driver = new FakeDriver();
  const steps: string[] = [];
  const told: TaskRecord[] = [];
  let text = '';
  const stateDir = new StateDir(folder);
  const recordPath = stateDir.recordFile(TASK_ID);
  await mkdir(stateDir.taskDir(TASK_ID), { recursive: true });
  const journalPath = join(folder, 'journal.ndjson');
  const journal = await Journal.open(journalPath, {
    maxBytes: 1_000_000,
    clock,
    onError: () => undefined,
  });
  const records = new RecordWriter(stateDir, clock);
  const spec = sampleSpec(options.spec);
  const run = new TaskRun(
    {
      spec,
      clock,
      logger: silentLogger,
      driver,
      journal,
      log: new ReadableLog({ write: (more) => (text += Buffer.from(more).toString('utf8')) }, clock),
      records,
      check: options.check ?? (() => ask),
      rules: options.rules ?? [],
      spentByOthers: options.spentByOthers,
      endLeftovers: async () => {
        steps.push('leftovers ended');
        return Array.from({ length: options.leftovers ?? 0 }, () => 'sleep');
      },
      isStored: async () => options.isStored ?? true,
      realPath: async (path) => path,
      identify: async () => null,
      flush: async () => {
        steps.push('files written out');
        await journal.close();
      },
      release: async () => {
        steps.push('project released');
      },
    },
    sampleRecord({}, spec),
  );
  run.onDidChange((record) => {
    told.push(record);
    if (record.status !== told.at(-2)?.status) steps.push(`told ${record.status}`);
  });
  onTestFinished(async () => {
    run.dispose();
    // A write that still waits would make the folder again.
    await records.retry();
    records.dispose();
    await journal.close();
  });
  return {
    run,
    driver,
    clock,
    steps,
    told,
    log: () => text,
    journal: async () => (await readJournal(journalPath, { afterSeq: 0, maxBytes: 1_000_000 })).entries,
    onDisk: async () => taskRecordSchema.parse(JSON.parse(await readFile(recordPath, 'utf8'))),
  };
}
