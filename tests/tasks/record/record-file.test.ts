import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStateDir, type StateDir } from '../../../src/store/state-dir.js';
import { readRecordFile, type RecordFile } from '../../../src/tasks/record/record-file.js';
import { RECORD_VERSION, taskRecordSchema } from '../../../src/tasks/task.js';
import { sampleRecord, TASK_ID } from '../sample-task.js';

let folder: string;
let stateDir: StateDir;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'record-'));
  stateDir = await openStateDir({ path: join(folder, 'state') });
  await stateDir.createTaskDir(TASK_ID);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const read = (): Promise<RecordFile> => readRecordFile(stateDir, TASK_ID);
const names = (): Promise<string[]> => readdir(stateDir.taskDir(TASK_ID));
const whyOf = (file: RecordFile): string => ('why' in file ? file.why : '');
const put = (text: string): Promise<void> => writeFile(stateDir.recordFile(TASK_ID), text);

describe('a record', () => {
  it('of today is not changed by reading', () => {
    const record = sampleRecord();
    expect(taskRecordSchema.parse(JSON.parse(JSON.stringify(record)))).toEqual(record);
  });

  it('of a newer bridge is named and left alone', async () => {
    const text = JSON.stringify({ schema_version: RECORD_VERSION + 1, wholly: 'different' });
    await put(text);
    const file = await read();
    expect(file.state).toBe('newer');
    expect(whyOf(file)).toContain(`version ${RECORD_VERSION + 1}`);
    expect(await readFile(stateDir.recordFile(TASK_ID), 'utf8')).toBe(text);
    expect(await names()).toEqual(['record.json']);
  });

  it('that is no object is called so', async () => {
    await put('[1, 2]');
    expect(whyOf(await read())).toMatch(/ cannot be read: the whole: .*array/);
  });

  it.each([
    { what: 'half a file', text: '{"schema_version": 2, "task_id"' },
    { what: 'an empty file', text: '' },
    { what: 'something else', text: '[1, 2]' },
    { what: 'a record without most of it', text: '{"schema_version": 2}' },
    { what: 'a record of the first form', text: '{"version": 1}' },
    { what: 'too large', text: ' '.repeat(16 * 1024 * 1024 + 1) },
  ])('that is $what is told at every look, and stays as it is', async ({ text }) => {
    await put(text);
    const told = await read();
    expect(told.state).toBe('corrupt');
    expect(whyOf(told)).toContain(`The record ${stateDir.recordFile(TASK_ID)} cannot be read: `);
    expect(await read()).toEqual(told);
    expect(await names()).toEqual(['record.json']);
    expect(await readFile(stateDir.recordFile(TASK_ID), 'utf8')).toBe(text);
  });

  it('that is not there is missing', async () => {
    expect(await read()).toEqual({ state: 'missing' });
    await stateDir.removeTaskDir(TASK_ID);
    expect(await read()).toEqual({ state: 'missing' });
  });
});
