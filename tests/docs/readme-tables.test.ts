import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { settingsTable, toolsTable, withReadmeTables } from '../../scripts/docs/readme-tables.js';
import { withTable } from '../../scripts/docs/table-between-markers.js';
import { allTools } from '../tools/all-tools.js';

const page = fileURLToPath(new URL('../../README.md', import.meta.url));

test('README.md has the tables of tools and settings; renew them with: npm run docs', async () => {
  const options = { ...(await resolveConfig(page)), parser: 'markdown' };
  const tables = {
    tools: await format(toolsTable(allTools), options),
    settings: await format(settingsTable(), options),
  };
  await expect(withReadmeTables(readFileSync(page, 'utf8'), tables)).toMatchFileSnapshot(page);
});

test('a page without the markers of a table is refused', () => {
  expect(() => withTable('# Page', 'tools', '| a |')).toThrow(
    'The page has no markers of the table "tools".',
  );
});
