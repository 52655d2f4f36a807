import { expect, test } from 'vitest';
import { clientsPage } from '../../scripts/docs/clients-page.js';
import { CLAUDE_VERSIONS } from '../../src/cli/demo/fetch-claude.js';
import { readSeen } from '../long/clients/seen.js';
import { CLIENT_PACKAGES } from '../long/clients/versions.js';

test('docs/clients.md is what was seen; renew it with: npm run docs', async () => {
  await expect(clientsPage(readSeen())).toMatchFileSnapshot('../../docs/clients.md');
});

test('what was seen is of the pinned versions; see again with: CLIENTS_RECORD=1 npm run check:all -- clients', () => {
  const seen = Object.entries(readSeen()).map(([key, { title, version }]) =>
    [key, title, version].join(' | '),
  );
  const pinned = Object.entries(CLIENT_PACKAGES).map(([key, { title, version }]) =>
    [key, title, version].join(' | '),
  );
  const claude = CLAUDE_VERSIONS.map((version) => `claude-code ${version} | Claude Code | ${version}`);
  expect(seen.sort()).toEqual([...pinned, ...claude].sort());
});
