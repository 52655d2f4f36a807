import { expect, onTestFinished, test } from 'vitest';
import { ClientFolders } from '../../src/mcp/client-folders.js';
import { startServing, type Era } from './serving.js';

/** What the server knows of a client that works in `uris`, which the test may change. */
async function connected(era: Era, uris: string[] | undefined) {
  const clientFolders = new ClientFolders();
  const capabilities = uris === undefined ? {} : { roots: { listChanged: true } };
  const serving = await startServing(era, undefined, { clientFolders }, 'test', capabilities, (client) => {
    if (uris !== undefined)
      client.setRequestHandler('roots/list', () => ({ roots: uris.map((uri) => ({ uri })) }));
  });
  onTestFinished(() => serving.close());
  return { client: serving.client, clientFolders };
}

test('the folders of a client are known, and asked for again after a change', async () => {
  const uris = ['file:///home/ann/my%20app'];
  const { client, clientFolders } = await connected('legacy', uris);
  expect(await clientFolders.list()).toEqual(['/home/ann/my app']);
  uris.push('file:///srv');
  expect(await clientFolders.list()).toHaveLength(1);
  await client.sendRootsListChanged();
  await expect.poll(() => clientFolders.list()).toEqual(['/home/ann/my app', '/srv']);
});

test.each([
  { era: 'legacy', uris: undefined, what: 'does not say' },
  { era: 'legacy', uris: ['https://example.com/'], what: 'works in no folder' },
  { era: 'modern', uris: ['file:///srv'], what: 'is of the modern era' },
] as const)('a client that $what has none', async ({ era, uris }) => {
  const { client, clientFolders } = await connected(era, uris && [...uris]);
  await client.listTools();
  expect(await clientFolders.list()).toEqual([]);
});
