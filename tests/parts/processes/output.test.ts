import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openProcesses } from '../../processes/open-processes.js';

type Query = Parameters<Awaited<ReturnType<typeof openProcesses>>['output']>[1];

/** What is read of a process that prints this text of `printf` and ends. */
async function printed(text: string) {
  const { sh, output, store } = await openProcesses();
  const { record } = await sh(`printf '${text}'`);
  const id = record.process_id;
  return {
    folder: store.folder(id),
    text: async (query: Query) => (await output(id, query)).text,
    search: async (query: Query) => (await output(id, query)).search,
  };
}

test('the last lines count one that has not ended, and are cut between characters', async () => {
  const { text, folder } = await printed('a\\nb\\nc');
  expect((await text({ lines: 2 }))?.text).toBe('b\nc');
  expect(statSync(join(folder, 'stdout.0')).mode & 0o777).toBe(0o600);
  const cut = (await (await printed(`${'ä'.repeat(1_000)}\\n`)).text({ maxBytes: 100 }))?.text ?? '';
  expect(cut).toMatch(/^ä+\n$/);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(100);
});

test('a character that is not whole is held back until the process has ended', async () => {
  const { sh, output, service, never } = await openProcesses();
  const { record } = await sh("printf 'price: \\342\\202'; read -r x", 300);
  expect((await output(record.process_id)).text?.text).toBe('price: ');
  await service.input({ id: record.process_id, eof: true, limitMs: 10_000 }, never);
  expect((await output(record.process_id)).text?.text).toBe('price: \ufffd');
});

test('pages by cursor tear no character, and one behind the end is empty', async () => {
  const whole = 'aä€😀'.repeat(50);
  const { text } = await printed(whole);
  let read = '';
  for (let cursor = 0; ;) {
    const part = await text({ cursor, maxBytes: 7 });
    if (part === undefined || part.cursor === cursor) break;
    read += part.text;
    cursor = part.cursor;
  }
  expect(read).toBe(whole);
  expect(await text({ cursor: 10_000 })).toMatchObject({ text: '' });
});

test('a search finds text and expressions with their places, also beneath colours, and goes on behind them', async () => {
  const few = await printed('one\\ntwo.\\nthree\\n\\033[1mtw\\033[31mo?');
  expect(await few.search({ search: 'two.' })).toMatchObject({ found: [{ offset: 4, text: 'two.' }] });
  const byRegex = await few.search({ search: '^two[.?]$', isRegex: true });
  expect(byRegex?.found.map(({ text }) => text)).toEqual(['two.', 'two?']);
  await expect(few.search({ search: '(', isRegex: true })).rejects.toThrow(/no regular expression in RE2/);
  const { sh, output } = await openProcesses();
  const { record } = await sh('seq -f "line %.0f" 1 120');
  const first = (await output(record.process_id, { search: 'line' })).search;
  expect(first).toMatchObject({ isMore: true });
  const cursor = first?.cursor ?? 0;
  const next = (await output(record.process_id, { search: 'line', cursor })).search;
  expect(next?.found[0]?.text).toBe(`line ${(first?.found.length ?? 0) + 1}`);
});
