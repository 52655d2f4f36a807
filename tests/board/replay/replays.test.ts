import { rm } from 'node:fs/promises';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { BoardOptions } from '../../../src/board/board.js';
import type { ClientAction, Outcome, ServerMessage } from '../../../src/board/protocol.js';
import { Reel, type ReelParts } from '../../../web/replay/reel.js';
import type { ReplayEvent } from '../../../web/replay/recording.js';
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

let file: CastFile;
let tasks: FakeTaskService;

beforeEach(async () => {
  file = await CastFile.create();
  tasks = new FakeTaskService(taskRecord({ status: 'completed' }));
  tasks.text = '';
});

async function openPage(changes: Partial<BoardOptions> = {}): Promise<TestPage> {
  const board = await serveBoard(tasks, {
    recordingFile: () => file.path,
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
  const reel = await readReel(await openPage(), { maxChars: 20_000 });
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

test('a rotated recording is one, in the sizes that it had; the state in its middle is not shown', async () => {
  await file.head();
  await file.events([0.5, 'o', 'older '], [1, 'r', '50x12']);
  await file.rotate(10_000, 'STATE');
  await file.events([0.5, 'o', 'newer']);
  const reel = await readReel(await openPage());
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

test('without a recording there is nothing to show', async () => {
  expect((await readReel(await openPage())).facts.value).toMatchObject({ began_ms: null, is_ready: true });
});

test('a recording that cannot be read says why', async () => {
  await file.head();
  await file.raw('x'.repeat(17 * 1024 * 1024));
  expect((await readReel(await openPage())).facts.value.error).toMatchObject({
    message: 'The recording cannot be read: a line has more than 16 MB.',
  });
});
