import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { clientsTable } from '../../scripts/docs/clients-table.js';
import { withTable } from '../../scripts/docs/table-between-markers.js';

const page = fileURLToPath(new URL('../../docs/guide.md', import.meta.url));

test('docs/guide.md has the table of clients; renew it with: npm run docs', async () => {
  const options = { ...(await resolveConfig(page)), parser: 'markdown' };
  const table = await format(clientsTable(), options);
  await expect(withTable(readFileSync(page, 'utf8'), 'clients', table)).toMatchFileSnapshot(page);
});
