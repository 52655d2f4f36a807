import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { BoardOptions } from '../../../src/board/board.js';
import type { ClientAction, Outcome, ServerMessage } from '../../../src/board/protocol.js';
import type { FilesPatchQuery } from '../../../src/git/diff/files-patch.js';
import { Reel, type ReelParts } from '../../../web/replay/reel.js';
import type { ReplayEvent } from '../../../web/replay/recording.js';
import { openTaskFiles } from '../../keeper/open-task-files.js';
import { sampleGitReport } from '../../tasks/sample-task.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../../tools/fake-task-service.js';
import { serveBoard, TestPage } from '../serve-board.js';
import {
  BEGAN_MS,
  CastFile,
  hiddenTerminal,
  ROWS,
  seen,
  shownAt,
  straight,
  type CastEvent,
} from './cast-file.js';

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
    reportOf: async () => report,
    readPatch: async (query, take) => {
      patches.push(query);
      take(Buffer.from(PATCH));
    },
    ...changes,
  });
  return TestPage.open(board);
}

let ids = 0;
async function act(page: TestPage, action: ClientAction): Promise<Outcome> {
  const id = ++ids;
  page.send({ type: 'dispatch', id, action });
  const isAnswer = (message: unknown): message is Extract<ServerMessage, { type: 'result' }> =>
    typeof message === 'object' && message !== null && 'id' in message && message.id === id;
  const result = await page.message('result', isAnswer);
  if (!isAnswer(result)) throw new Error('it is no answer');
  return result;
}

/** The recording as the page has it, read to its end. */
async function readReel(page: TestPage, parts: Partial<ReelParts> = {}): Promise<Reel> {
  const reel = new Reel({
    taskId: TASK_ID,
    act: (action) => act(page, action),
    openTerminal: hiddenTerminal,
    pause: () => Promise.resolve(),
    ...parts,
  });
  onTestFinished(() => reel.dispose());
  await reel.read(() => false);
  return reel;
}

function eventsOf(reel: Reel): ReplayEvent[] {
  const events: ReplayEvent[] = [];
  for (let number = 0, event = reel.event(number); event !== undefined; event = reel.event(++number))
    events.push(event);
  return events;
}

const printed = (reel: Reel) =>
  eventsOf(reel).flatMap((event) => (event.kind === 'output' ? [[event.ms, event.text]] : []));

test('the screen at any moment is that of a straight replay', async () => {
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
  const reel = await readReel(await openPage());
  expect(reel.facts.value).toMatchObject({ began_ms: BEGAN_MS, first_ms: 0, is_ready: true, is_cut: false });
  for (const ms of [0, 1_100, 77_700, 330_000, 659_000, 900_000]) {
    const before = events.filter(([seconds]) => Math.round(seconds * 1000) <= ms);
    expect(await seen(reel, ms)).toBe(await straight(before));
  }
  // From a picture that is near it, and not from the beginning.
  expect(reel.event(shownAt(reel, 330_000).next)?.ms).toBeGreaterThan(325_000);
});

test('of a long recording the end is shown, with the screens that it had', async () => {
  const events = Array.from({ length: 200 }, (_, at): CastEvent => [at * 3, 'o', `\x1b[1;1Hline ${at} `]);
  await file.head();
  await file.events(...events);
  const reel = await readReel(await openPage(), { maxChars: 1_000 });
  const { is_cut, first_ms, ready_ms } = reel.facts.value;
  expect(is_cut).toBe(true);
  expect(first_ms).toBeGreaterThan(300_000);
  expect(reel.event(0)).toBeUndefined();
  expect(await seen(reel, ready_ms)).toBe(await straight(events));
  const before = events.filter(([seconds]) => seconds * 1000 <= first_ms);
  expect(await seen(reel, 0)).toBe(await straight(before));
});

test('what was typed is neither shown nor passed on, and lines that are no events are left out', async () => {
  await file.head();
  await file.events([0.1, 'o', 'one '], [0.2, 'i', 'a secret']);
  await file.raw('no JSON\n{"an":"object"}\n[1]\n["late","o","text"]\n[-1,"o","text"]\n[0.3,"r","0x0"]\n\n');
  await file.events([0.4, 'o', 'two'], [0.5, 'm', 'a marker']);
  const page = await openPage();
  const reel = await readReel(page);
  expect(JSON.stringify(page.got)).not.toContain('a secret');
  expect(printed(reel)).toEqual([
    [100, 'one '],
    [400, 'two'],
  ]);
  expect(eventsOf(reel)).toHaveLength(3);
});

test('a rotated recording is one, in the sizes that it had, with its pauses; the state in its middle is not shown', async () => {
  await file.head();
  await file.events([0.5, 'o', 'older '], [1, 'r', '50x12']);
  await file.rotate(10_000, 'STATE');
  await file.events([0.5, 'o', 'newer']);
  const reel = await readReel(await openPage());
  expect(reel.facts.value.pauses).toEqual([[1_000, 10_000]]);
  expect(printed(reel)).toEqual([
    [500, 'older '],
    [10_500, 'newer'],
  ]);
  expect(eventsOf(reel).map((event) => event.kind)).toEqual([
    'begin',
    'output',
    'resize',
    'resize',
    'output',
  ]);
});

test('without its older part a recording begins with the state of the newer one', async () => {
  await file.head();
  await file.events([0.5, 'o', 'older ']);
  await file.rotate(10_000, 'STATE ');
  await file.events([0.5, 'o', 'newer']);
  await rm(`${file.path}.1`);
  expect(printed(await readReel(await openPage())).map(([, text]) => text)).toEqual(['STATE ', 'newer']);
});

test('what the recorder writes is followed over many rotations without a trace of them', async () => {
  const statePath = join(file.path, '..', 'state');
  const opened = await openTaskFiles({ statePath, logFile: `${file.path}.log`, maxBytes: 8_000 });
  opened.files.screenStateFrom(() => 'A STATE THAT IS NOT SHOWN');
  const { recording } = opened.files;
  let line = 0;
  const write = async (): Promise<void> => {
    void recording.output(Buffer.from(`line ${line++}\r\n`));
    await recording.flush();
  };
  await write();
  const page = await openPage({ recordingFile: () => opened.recordingFile });
  const reel = new Reel({
    taskId: TASK_ID,
    // A line comes between any two looks.
    act: async (action) => {
      if (line < 300) await write();
      return act(page, action);
    },
    openTerminal: hiddenTerminal,
    pause: () => Promise.resolve(),
  });
  onTestFinished(() => reel.dispose());
  await reel.read(() => line < 300);
  await recording.close();
  const texts = printed(reel).map(([, text]) => String(text).trim());
  expect(texts).toEqual(Array.from({ length: texts.length }, (_, at) => `line ${at}`));
  expect(texts.length).toBeGreaterThan(290);
});

test('decisions, tools and commits come with their times', async () => {
  tasks.text = `${JSON.stringify({
    seq: 1,
    at: new Date(BEGAN_MS + 3_000).toISOString(),
    type: 'decision-asked',
    decision_id: 'dec_1',
    summary: 'Which color?',
  })}\n`;
  const page = await openPage();
  page.send({ type: 'subscribe', channel: CHANNEL });
  expect(await page.values(CHANNEL, (values) => 'commit/1' in values)).toMatchObject({
    is_live: false,
    'mark/1': { kind: 'decision', at_ms: BEGAN_MS + 3_000, words: 'Which color?' },
    'commit/0': { commit: FIRST, at_ms: BEGAN_MS + 2_999, subject: 'Commit at 2000' },
    'commit/1': { commit: SECOND, at_ms: BEGAN_MS + 9_999, subject: 'Commit at 9000' },
    files_why: null,
  });
});

test('the files of a commit of the task are shown, alone or since the task began, and of no other one', async () => {
  const page = await openPage();
  const files = (of: string, since: 'commit' | 'task') =>
    act(page, { type: 'replay.files', task_id: TASK_ID, commit: of, since });
  expect(await files(SECOND, 'commit')).toMatchObject({
    ok: true,
    files: { files: [{ path: 'a.txt', insertions: 1, deletions: 1 }], notes: [] },
  });
  await files(SECOND, 'task');
  await files(FIRST, 'commit');
  expect(patches).toEqual([
    { repository: '/home/ann/app', base: `${SECOND}^`, end: SECOND },
    { repository: '/home/ann/app', base: null, end: SECOND },
    // Nothing was before it.
    { repository: '/home/ann/app', base: null, end: FIRST },
  ]);
  expect(await files('c'.repeat(40), 'commit')).toMatchObject({
    ok: false,
    error: { code: 'REVISION_NOT_FOUND' },
  });
  expect(patches).toHaveLength(3);
});

test('without a recording, without a terminal, and without a repository the page says why', async () => {
  const why = async (changes: Partial<BoardOptions>, key: string) => {
    const page = await openPage(changes);
    page.send({ type: 'subscribe', channel: CHANNEL });
    return (await page.values(CHANNEL, (values) => typeof values[key] === 'string'))[key];
  };
  expect(await why({}, 'why_empty')).toMatch('Nothing of its terminal was recorded.');
  tasks.change(TASK_ID, { driver: 'print' });
  expect(await why({}, 'why_empty')).toMatch('The task has no terminal');
  const noRepository = { state: 'none', why: 'It is no repository.' } as const;
  expect(await why({ reportOf: async () => noRepository }, 'files_why')).toBe(
    'git has no state of the files: It is no repository.',
  );
  expect((await readReel(await openPage())).facts.value).toMatchObject({ began_ms: null, is_ready: true });
});

test('a recording that cannot be read says why', async () => {
  const reel = await readReel(await openPage({ recordingFile: () => '/dev/null' }));
  expect(reel.facts.value.error).toMatchObject({
    message: 'The recording cannot be read: /dev/null: it is not a regular file.',
  });
});
