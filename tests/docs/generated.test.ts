import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedPage, generatedPages, withPart } from '../../scripts/docs/generated.js';
import { EVERY_TOOLSET, fieldSources, sourcesOf } from '../../scripts/docs/tool-tables.js';
import { errorCodes } from '../../src/base/errors.js';
import { CLAUDE_VERSIONS } from '../../src/cli/demo/fetch-claude.js';
import { receiptSchema } from '../../src/tasks/receipt/receipt.js';
import { readSeen } from '../long/clients/seen.js';
import { CLIENT_PACKAGES } from '../long/clients/versions.js';
import { toolsForModels } from '../tools/all-tools.js';

const root = join(import.meta.dirname, '..', '..');

test.each(generatedPages)('%s is what its sources say; renew it with: npm run docs', async (page) => {
  await expect(await generatedPage(page)).toMatchFileSnapshot(join(root, page));
});

test('a page without the markers of a part is refused', () => {
  expect(() => withPart('# Page', 'tools', '| a |')).toThrow('The page has no markers of the part "tools".');
});

test('scripts/docs/tool-fields.md says of each field of an answer, and of the receipt, where it comes from', () => {
  const unsaid = toolsForModels.flatMap((tool) => {
    const { properties } = tool.listing.outputSchema as { properties: object };
    const said = sourcesOf(tool.toolset) + sourcesOf(EVERY_TOOLSET);
    return Object.keys(properties).filter((field) => !said.includes(`\`${field}\``));
  });
  const [, ofReceipt = ''] = fieldSources.split('Of the receipt:');
  const own = ['version', 'task_id', 'status'];
  const fields = Object.keys(receiptSchema.shape).filter((field) => !own.includes(field));
  expect([...unsaid, ...fields.filter((field) => !ofReceipt.includes(`\`${field}\``))]).toEqual([]);
});

test('docs/errors.md names no code that there is not', () => {
  const page = readFileSync(join(root, 'docs', 'errors.md'), 'utf8');
  const named = [...page.matchAll(/^\| `[A-Z_]+` +\| (.*) \| .* \|$/gm)];
  const codes = named.flatMap(([, here = '']) => here.match(/(?<=`)[A-Z_]+(?=`)/g) ?? []);
  expect(codes.filter((code) => !Object.hasOwn(errorCodes, code))).toEqual([]);
  expect(codes).toContain('NOT_A_REPOSITORY');
});

test('what was seen is of the pinned versions; see again with: CLIENTS_RECORD=1 npm run check:all -- clients', () => {
  const pinned = Object.entries(CLIENT_PACKAGES).map(([key, { title, version }]) => [key, title, version]);
  const claude = CLAUDE_VERSIONS.map((version) => [`claude-code ${version}`, 'Claude Code', version]);
  const seen = Object.entries(readSeen()).map(([key, { title, version }]) => [key, title, version]);
  expect(seen.map(String).sort()).toEqual([...pinned, ...claude].map(String).sort());
});
