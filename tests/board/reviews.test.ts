import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { reviewMessage, Reviews, shownComment } from '../../src/board/reviews.js';
import { createWorkplace } from '../harness/workplace.js';
import { OTHER_ID, TASK_ID } from '../tools/fake-task-service.js';

const comment = { file: 'a.js', side: 'new', line: 3, quoted: 'let a;', text: 'Use const.' } as const;

const AT = '2026-03-01T10:00:00.000Z';

function deferred() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

let folder: string;
let reviews: Reviews;

beforeEach(async () => {
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  folder = join(workplace.root, 'reviews');
  reviews = new Reviews(folder);
});

test('comments outlive the board, and those at once are all kept', async () => {
  await Promise.all([1, 2, 3].map((line) => reviews.add(TASK_ID, { ...comment, line })));
  const kept = await new Reviews(folder).of(TASK_ID);
  expect(kept.map(({ line }) => line)).toEqual([1, 2, 3]);
  await reviews.remove(TASK_ID, kept[1]?.comment_id ?? '');
  expect((await reviews.of(TASK_ID)).map(({ line }) => line)).toEqual([1, 3]);
});

test('a comment that was sent is answered when its line is gone', async () => {
  await reviews.add(TASK_ID, comment);
  const [draft] = await reviews.of(TASK_ID);
  if (draft === undefined) throw new Error('no comment');
  expect(shownComment(draft, () => false).state).toBe('draft');
  await reviews.submit(TASK_ID, '2026-03-01T10:00:00.000Z', async () => undefined);
  const [sent = draft] = await reviews.of(TASK_ID);
  expect(shownComment(sent, () => true).state).toBe('sent');
  expect(shownComment(sent, () => false).state).toBe('answered');
});

test('two pages that send at once send each comment once', async () => {
  await reviews.add(TASK_ID, comment);
  const sent: string[][] = [];
  const submit = () =>
    reviews.submit(TASK_ID, '2026-03-01T10:00:00.000Z', async (drafts) => {
      sent.push(drafts.map(({ text }) => text));
    });
  const [one, other] = await Promise.allSettled([submit(), submit()]);
  expect(sent).toEqual([['Use const.']]);
  expect([one.status, other.status]).toEqual(['fulfilled', 'rejected']);
});

test('comments that could not be sent are still to be sent', async () => {
  await reviews.add(TASK_ID, comment);
  const send = () => Promise.reject(new Error('the task does not answer'));
  await expect(reviews.submit(TASK_ID, '2026-03-01T10:00:00.000Z', send)).rejects.toThrow('does not answer');
  expect((await reviews.of(TASK_ID)).map(({ sent_at }) => sent_at)).toEqual([null]);
});

test('the message has file, line and the line itself before each comment', () => {
  const stored = { ...comment, comment_id: '1', sent_at: null };
  expect(reviewMessage([stored, { ...stored, side: 'old' }])).toBe(
    'Comments on your changes:\n\na.js, line 3:\n> let a;\nUse const.\n\na.js, line 3 (removed):\n> let a;\nUse const.\n',
  );
});

test('a file that cannot be read is named, and nothing is written over it', async () => {
  await reviews.add(TASK_ID, comment);
  await writeFile(join(folder, `${TASK_ID}.json`), '{');
  await expect(reviews.add(TASK_ID, comment)).rejects.toThrow('cannot be read');
});

test('comments whose board ended while it sent them are shown so, and are not sent again', async () => {
  await reviews.add(TASK_ID, comment);
  const kept: unknown[] = [];
  await reviews.submit(TASK_ID, AT, async () => {
    // As a board that is started now finds them.
    const [found] = await new Reviews(folder).of(TASK_ID);
    if (found === undefined) throw new Error('no comment');
    kept.push(shownComment(found, () => true).state);
    const again = new Reviews(folder).submit(TASK_ID, AT, async () => undefined);
    await expect(again).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });
  const [sent] = await reviews.of(TASK_ID);
  expect([kept, sent?.is_sending]).toEqual([['unsure'], undefined]);
});

test('a task that does not answer holds up no comments of others, and to remove what is not there makes no file', async () => {
  await reviews.add(TASK_ID, comment);
  const [begun, answer] = [deferred(), deferred()];
  const submit = reviews.submit(TASK_ID, AT, () => {
    begun.resolve();
    return answer.promise;
  });
  await begun.promise;
  await reviews.add(OTHER_ID, comment);
  await reviews.remove('task_00000000000000000009', 'nothing');
  expect((await readdir(folder)).sort()).toEqual([`${OTHER_ID}.json`, `${TASK_ID}.json`].sort());
  answer.resolve();
  await submit;
});
