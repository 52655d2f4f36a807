import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { sourcesOf, toolsPage } from '../../scripts/docs/tools-page.js';
import { receiptSchema } from '../../src/tasks/receipt/receipt.js';
import { allTools } from '../tools/all-tools.js';

const readSources = (): Promise<string> => readFile('scripts/docs/tool-fields.md', 'utf8');

test('docs/tools.md is what the tools say; renew it with: npm run docs', async () => {
  await expect(toolsPage(allTools, await readSources())).toMatchFileSnapshot('../../docs/tools.md');
});

test('docs/tools.md says of each field of an answer, and of the receipt, where it comes from', async () => {
  const sources = await readSources();
  const unsaid = allTools.flatMap((tool) => {
    const { properties } = tool.listing().outputSchema as { properties: object };
    const said = sourcesOf(tool.toolset, sources);
    return Object.keys(properties).filter((field) => !said.includes(`\`${field}\``));
  });
  const [, ofReceipt = ''] = sources.split('Of the receipt:');
  const own = ['version', 'task_id', 'status'];
  const fields = Object.keys(receiptSchema.shape).filter((field) => !own.includes(field));
  expect([...unsaid, ...fields.filter((field) => !ofReceipt.includes(`\`${field}\``))]).toEqual([]);
});
