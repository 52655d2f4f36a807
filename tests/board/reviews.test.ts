import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { reviewMessage, Reviews } from '../../src/board/reviews.js';
import { createWorkplace } from '../harness/workplace.js';
import { TASK_ID } from '../tools/fake-task-service.js';

const comment = { file: 'a.js', side: 'new', line: 3, quoted: 'let a;', text: 'Use const.' } as const;

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

test('two pages that send at once send each comment once', async () => {
  await reviews.add(TASK_ID, comment);
  const sent: string[][] = [];
  const submit = () =>
    reviews.submit(TASK_ID, async (drafts) => {
      sent.push(drafts.map(({ text }) => text));
    });
  const [one, other] = await Promise.allSettled([submit(), submit()]);
  expect(sent).toEqual([['Use const.']]);
  expect([one.status, other.status]).toEqual(['fulfilled', 'rejected']);
});

test('comments that could not be sent are still to be sent', async () => {
  await reviews.add(TASK_ID, comment);
  const send = () => Promise.reject(new Error('the task does not answer'));
  await expect(reviews.submit(TASK_ID, send)).rejects.toThrow('does not answer');
  expect(await reviews.of(TASK_ID)).toMatchObject([comment]);
});

test('the message has file, line and the line itself before each comment', () => {
  const stored = { ...comment, comment_id: '1' };
  expect(reviewMessage([stored, { ...stored, side: 'old' }])).toBe(
    'Comments on your changes:\n\na.js, line 3:\n> let a;\nUse const.\n\na.js, line 3 (removed):\n> let a;\nUse const.\n',
  );
});

test('a file that cannot be read is named, and nothing is written over it', async () => {
  await reviews.add(TASK_ID, comment);
  await writeFile(join(folder, `${TASK_ID}.json`), '{');
  await expect(reviews.add(TASK_ID, comment)).rejects.toThrow('cannot be read');
});

test('comments that a board was sending when it was killed are not sent again, and are not lost', async () => {
  await reviews.add(TASK_ID, comment);
  await reviews.submit(TASK_ID, async () => {
    // As a board that is started now finds them.
    const again = new Reviews(folder).submit(TASK_ID, async () => undefined);
    await expect(again).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });
  expect(await reviews.of(TASK_ID)).toEqual([]);
  expect(await readFile(join(folder, `${TASK_ID}.json.sent`), 'utf8')).toContain('Use const.');
});
