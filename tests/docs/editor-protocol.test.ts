import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { editorProtocolPage } from '../../scripts/docs/editor-protocol.js';

const page = fileURLToPath(new URL('../../docs/editor-protocol.md', import.meta.url));

test('docs/editor-protocol.md is made from the messages of the editor; renew it with: npm run docs', async () => {
  const options = await resolveConfig(page);
  await expect(await format(editorProtocolPage(), { ...options, parser: 'markdown' })).toMatchFileSnapshot(
    page,
  );
});
