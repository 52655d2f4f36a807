import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { layersTable } from '../../scripts/docs/layers-table.js';
import { withTable } from '../../scripts/docs/table-between-markers.js';
import { areas, layers, soleImporters } from '../architecture/layers.js';

const page = fileURLToPath(new URL('../../docs/architecture.md', import.meta.url));

test('docs/architecture.md has the table of layers; renew it with: npm run docs', async () => {
  const options = await resolveConfig(page);
  const table = await format(layersTable([...layers, ...areas], soleImporters), {
    ...options,
    parser: 'markdown',
  });
  await expect(withTable(readFileSync(page, 'utf8'), 'layers', table)).toMatchFileSnapshot(page);
});
