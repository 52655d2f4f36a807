import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { wholeLines, type Line } from '../../../src/board/replay/whole-lines.js';

async function linesOf(text: string, from = 0): Promise<Line[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bridge-lines-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'file');
  await writeFile(path, text);
  const file = await open(path);
  onTestFinished(() => file.close());
  const all: Line[] = [];
  for await (const lines of wholeLines(file, from)) all.push(...lines);
  return all;
}

test('lines come whole with where they are, however they lie in what is read at once', async () => {
  const texts = ['short', '', 'é'.repeat(200_000), 'x'.repeat(600_000), 'last'];
  const lines = await linesOf(`${texts.join('\n')}\nnot whole`);
  expect(lines.map(({ text }) => text)).toEqual(texts);
  const [first, second, third] = lines;
  expect([first?.start, first?.end, second?.start, second?.end, third?.start]).toEqual([0, 6, 6, 7, 7]);
  expect(await linesOf('one\ntwo\n', 4)).toEqual([{ start: 4, end: 8, text: 'two' }]);
});

test('a line that is too long is empty, and the next one is there', async () => {
  const lines = await linesOf(`${'x'.repeat(17 * 1024 * 1024)}\nnext\n`);
  expect(lines.map(({ text }) => text)).toEqual(['', 'next']);
});
