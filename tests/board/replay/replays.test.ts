import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { BoardOptions } from '../../../src/board/board.js';
import type { ReplayEvent, ReplayPlace, ReplayScreenAt } from '../../../src/board/replay/replay-state.js';
import type { FilesPatchQuery } from '../../../src/git/diff/files-patch.js';
import { sampleGitReport } from '../../tasks/sample-task.js';
import { bundledProgram } from '../../harness/bundled-program.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../../tools/fake-task-service.js';
import { serveBoard, TestPage } from '../serve-board.js';
import { openTaskFiles } from '../../keeper/open-task-files.js';
import { until } from '../../harness/until.js';
import { BEGAN_MS, CastFile, ROWS, seen, straight, type CastEvent } from './cast-file.js';

const worker = bundledProgram(new URL('../../../src/board/replay/replay-worker.ts', import.meta.url));
const CHANNEL = `replay:/${TASK_ID}`;
const FIRST = 'a'.repeat(40);
const SECOND = 'b'.repeat(40);
const PATCH = 'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n';

const commit = (hash: string, ms: number) => ({
  commit: hash,
  author: 'a',
  date: new Date(BEGAN_MS + ms).toISOString(),
  subject: `Commit at ${ms}`,
});
const report = sampleGitReport({
  // git names the newest one first.
  commits: [commit(SECOND, 9_000), commit(FIRST, 2_000)],
  commits_total: 2,
  head_after: SECOND,
});

let file: CastFile;
let tasks: FakeTaskService;
let patches: FilesPatchQuery[];

beforeEach(async () => {
  file = await CastFile.create();
  tasks = new FakeTaskService(taskRecord({ status: 'completed' }));
  tasks.text = '';
  patches = [];
});

async function openPage(changes: Partial<BoardOptions> = {}): Promise<TestPage> {
  const board = await serveBoard(tasks, {
    recordingFile: () => file.path,
    replayWorker: pathToFileURL(worker()),
    reportOf: async () => report,
    readPatch: async (query, take) => {
      patches.push(query);
      take(Buffer.from(PATCH));
    },
    ...changes,
  });
  return TestPage.open(board);
}

/** Follows the recording until it was read. */
async function openReplay(page: TestPage): Promise<void> {
  page.send({ type: 'subscribe', channel: CHANNEL });
  await page.message('action', ({ action }) => JSON.stringify(action).includes('"is_ready":true'));
}

let ids = 0;
async function act(page: TestPage, action: Readonly<Record<string, unknown>>) {
  const id = ++ids;
  page.send({ type: 'dispatch', id, action: { task_id: TASK_ID, ...action } });
  return page.message('result', (message) => message['id'] === id);
}

const answerSchema = z.looseObject({
  screen: z
    .object({
      at_ms: z.number(),
      columns: z.number(),
      rows: z.number(),
      state: z.string(),
      next: z.object({ part: z.number(), offset: z.number(), ms: z.number() }),
    })
    .optional(),
  piece: z
    .object({
      events: z.array(z.tuple([z.number(), z.enum(['output', 'resize', 'begin']), z.string()])),
      next: z.object({ part: z.number(), offset: z.number(), ms: z.number() }),
    })
    .optional(),
});

async function seek(page: TestPage, ms: number): Promise<ReplayScreenAt> {
  const { screen } = answerSchema.parse(await act(page, { type: 'replay.seek', ms }));
  if (screen === undefined) throw new Error('there is no screen');
  return screen;
}

/** All pieces after a place. */
async function readAll(page: TestPage, from: ReplayPlace): Promise<ReplayEvent[]> {
  const all: ReplayEvent[] = [];
  for (let place = from; ;) {
    const { piece } = answerSchema.parse(await act(page, { type: 'replay.read', from: place }));
    if (piece === undefined || piece.events.length === 0) return all;
    all.push(...piece.events);
    place = piece.next;
  }
}

test('a page gets the screen at a moment and what follows it', async () => {
  await file.head();
  await file.events([1, 'o', 'one '], [5, 'o', 'two']);
  const page = await openPage();
  await openReplay(page);
  const answer = await act(page, { type: 'replay.seek', ms: 3_000 });
  const { screen } = z
    .object({ screen: z.looseObject({ state: z.string(), next: z.unknown() }) })
    .parse(answer);
  expect(screen).toMatchObject({ at_ms: 3_000, columns: 30, rows: 6 });
  expect(screen.state).toContain('one');
  expect(screen.state).not.toContain('two');
  expect(await act(page, { type: 'replay.read', from: screen.next })).toMatchObject({
    ok: true,
    piece: { events: [[5_000, 'output', 'two']] },
  });
});

test('the screen at any moment, and all that is played after it, is that of a straight replay', async () => {
  const drawn = [
    '\x1b[A',
    '\x1b[3;9H',
    '\x1b[K',
    '\x1b[J',
    '\x1b[7m',
    '\x1b[0m',
    '\x1b[31m',
    '\x1b[L',
    '\x1b[P',
    '\b',
  ];
  const events = Array.from({ length: 600 }, (_, at): CastEvent => {
    const [row, column] = [(at % ROWS) + 1, ((at * 7) % 15) + 1];
    return [at * 1.1, 'o', `\x1b[${row};${column}Hword ${at}${drawn[at % drawn.length] ?? ''}`];
  });
  await file.head();
  await file.events(...events);
  const page = await openPage();
  await openReplay(page);
  for (const ms of [0, 1_100, 77_700, 330_000, 659_000, 900_000]) {
    const screen = await seek(page, ms);
    const before = events.filter(([seconds]) => Math.round(seconds * 1000) <= ms);
    expect(await seen(screen)).toBe(await straight(before));
    expect(await seen(screen, await readAll(page, screen.next))).toBe(await straight(events));
  }
});

test('what was typed is neither shown nor passed on, and lines that are no events are left out', async () => {
  await file.head();
  await file.events([0.1, 'o', 'one '], [0.2, 'i', 'a secret']);
  await file.raw('no JSON\n{"an":"object"}\n[1]\n["late","o","text"]\n[-1,"o","text"]\n[0.3,"r","0x0"]\n\n');
  await file.events([0.4, 'o', 'two'], [0.5, 'm', 'a marker']);
  const page = await openPage();
  await openReplay(page);
  expect(await readAll(page, (await seek(page, 0)).next)).toEqual([
    [100, 'output', 'one '],
    [400, 'output', 'two'],
  ]);
  expect(JSON.stringify(page.got)).not.toContain('a secret');
});

test('a rotated recording is one, in the sizes that it had, with its pauses; the state in its middle is not shown', async () => {
  await file.head();
  await file.events([0.5, 'o', 'older '], [1, 'r', '50x12']);
  await file.rotate(10_000, 'STATE');
  await file.events([0.5, 'o', 'newer']);
  const page = await openPage();
  await openReplay(page);
  expect(JSON.stringify(page.got)).toContain('"pauses":[[1000,10000]]');
  expect(await seek(page, 500)).toMatchObject({ columns: 30, rows: 6 });
  expect(await seek(page, 2_000)).toMatchObject({ columns: 50, rows: 12 });
  const screen = await seek(page, 10_500);
  expect(screen.state).toContain('older newer');
  expect(screen.state).not.toContain('STATE');
  const events = await readAll(page, (await seek(page, 0)).next);
  expect(events.filter(([, kind]) => kind === 'output')).toEqual([
    [500, 'output', 'older '],
    [10_500, 'output', 'newer'],
  ]);
});

test('without its older part a recording begins with the state of the newer one', async () => {
  await file.head();
  await file.events([0.5, 'o', 'older ']);
  await file.rotate(10_000, 'STATE ');
  await file.events([0.5, 'o', 'newer']);
  await rm(`${file.path}.1`);
  const page = await openPage();
  await openReplay(page);
  expect((await seek(page, 500)).state).toContain('STATE newer');
});

test('what the recorder writes is followed over many rotations without a trace of them', async () => {
  tasks.change(TASK_ID, { status: 'running' });
  const statePath = join(file.path, '..', 'state');
  const opened = await openTaskFiles({ statePath, logFile: `${file.path}.log`, maxBytes: 8_000 });
  opened.files.screenStateFrom(() => 'A STATE THAT IS NOT SHOWN');
  const { recording } = opened.files;
  void recording.output(Buffer.from('line 0\r\n'));
  await recording.flush();
  const page = await openPage({ recordingFile: () => opened.recordingFile });
  await openReplay(page);
  for (let line = 1; line < 300; line++) {
    void recording.output(Buffer.from(`line ${line}\r\n`));
    await recording.flush();
  }
  await recording.close();
  const last = await until('all was read', async () => {
    const screen = await seek(page, Number.MAX_SAFE_INTEGER);
    return screen.state.includes('line 299') && screen;
  });
  expect(last.state).not.toContain('A STATE');
});

test('decisions, tools and commits come with their times in the recording', async () => {
  await file.head();
  await file.events([10, 'o', 'text']);
  tasks.text = `${JSON.stringify({
    seq: 1,
    at: new Date(BEGAN_MS + 3_000).toISOString(),
    type: 'decision-asked',
    decision_id: 'dec_1',
    summary: 'Which color?',
  })}\n`;
  const page = await openPage();
  await openReplay(page);
  const marked = await page.message('action', ({ action }) =>
    JSON.stringify(action).includes('replay.marked'),
  );
  expect(marked).toMatchObject({
    action: { marks: [{ kind: 'decision', at_ms: 3_000, words: 'Which color?' }] },
  });
  const found = await page.message('action', ({ action }) => JSON.stringify(action).includes(FIRST));
  expect(found).toMatchObject({
    action: {
      commits: [
        { commit: FIRST, at_ms: 2_999, subject: 'Commit at 2000' },
        { commit: SECOND, at_ms: 9_999, subject: 'Commit at 9000' },
      ],
      files_why: null,
    },
  });
});

test('the files of a commit of the task are shown, alone or since the task began, and of no other one', async () => {
  await file.head();
  await file.events([10, 'o', 'text']);
  const page = await openPage();
  await openReplay(page);
  await page.message('action', ({ action }) => JSON.stringify(action).includes(FIRST));
  expect(await act(page, { type: 'replay.files', commit: SECOND, since: 'commit' })).toMatchObject({
    ok: true,
    files: { files: [{ path: 'a.txt', insertions: 1, deletions: 1 }], notes: [] },
  });
  await act(page, { type: 'replay.files', commit: SECOND, since: 'task' });
  await act(page, { type: 'replay.files', commit: FIRST, since: 'commit' });
  expect(patches).toEqual([
    { repository: '/home/ann/app', base: `${SECOND}^`, end: SECOND },
    { repository: '/home/ann/app', base: null, end: SECOND },
    // Nothing was before it.
    { repository: '/home/ann/app', base: null, end: FIRST },
  ]);
  expect(await act(page, { type: 'replay.files', commit: 'c'.repeat(40), since: 'commit' })).toMatchObject({
    ok: false,
    error: { code: 'REVISION_NOT_FOUND' },
  });
  expect(patches).toHaveLength(3);
});

test('a recording that the page does not follow answers nothing', async () => {
  await file.head();
  await file.events([1, 'o', 'text']);
  const page = await openPage();
  expect(await act(page, { type: 'replay.seek', ms: 0 })).toMatchObject({
    ok: false,
    error: { code: 'INVALID_ARGUMENTS' },
  });
});

test('without a recording, without a terminal, and without a repository the page says why', async () => {
  const page = await openPage();
  await openReplay(page);
  await page.message('action', ({ action }) => JSON.stringify(action).includes('Nothing of its terminal'));
  tasks.change(TASK_ID, { driver: 'print' });
  const other = await openPage();
  await openReplay(other);
  await other.message('action', ({ action }) => JSON.stringify(action).includes('has no terminal'));
  await file.head();
  await file.events([1, 'o', 'text']);
  const third = await openPage({ reportOf: async () => ({ state: 'none', why: 'It is no repository.' }) });
  await openReplay(third);
  await third.message('action', ({ action }) =>
    JSON.stringify(action).includes('git has no state of the files: It is no repository.'),
  );
});

test('the recording of a running task grows, and ends with it', async () => {
  tasks.change(TASK_ID, { status: 'running' });
  await file.head();
  await file.events([1, 'o', 'one ']);
  const page = await openPage();
  await openReplay(page);
  await file.events([2, 'o', 'two']);
  await page.message('action', ({ action }) => JSON.stringify(action).includes('"ready_ms":2000'));
  await file.events([3, 'o', 'three']);
  tasks.change(TASK_ID, { status: 'completed' });
  await page.message('action', ({ action }) => JSON.stringify(action).includes('"is_live":false'));
  await page.message('action', ({ action }) => JSON.stringify(action).includes('"ready_ms":3000'));
});

test('a recording that cannot be read says why', async () => {
  const page = await openPage({ recordingFile: () => '/dev/null' });
  page.send({ type: 'subscribe', channel: CHANNEL });
  await page.message('action', ({ action }) =>
    JSON.stringify(action).includes('The recording cannot be read: /dev/null: it is not a regular file.'),
  );
});
