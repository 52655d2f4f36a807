import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { boardProtocolPage } from '../../scripts/docs/board-protocol.js';

const page = new URL('../../docs/board-protocol.md', import.meta.url).pathname;

test('docs/board-protocol.md is made from the messages of the board; renew it with: npm run docs', async () => {
  const text = boardProtocolPage((file) =>
    readFileSync(new URL(`../../src/board/${file}`, import.meta.url), 'utf8'),
  );
  const options = await resolveConfig(page);
  await expect(await format(text, { ...options, parser: 'markdown' })).toMatchFileSnapshot(page);
});
