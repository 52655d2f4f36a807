import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { clientsTable } from '../../scripts/docs/clients-table.js';
import { versionsTable } from '../../scripts/docs/versions-table.js';
import { withTable } from '../../scripts/docs/table-between-markers.js';

const page = fileURLToPath(new URL('../../docs/guide.md', import.meta.url));

test('docs/guide.md has the tables of clients and of versions; renew them with: npm run docs', async () => {
  const options = { ...(await resolveConfig(page)), parser: 'markdown' };
  const clients = withTable(readFileSync(page, 'utf8'), 'clients', await format(clientsTable(), options));
  const both = withTable(clients, 'versions', await format(versionsTable(), options));
  await expect(both).toMatchFileSnapshot(page);
});
