import { expect, test } from 'vitest';
import { toolsPage } from '../../scripts/docs/tools-page.js';
import { allTools } from '../tools/all-tools.js';

test('docs/tools.md is what the tools say; renew it with: npm run docs', async () => {
  await expect(toolsPage(allTools)).toMatchFileSnapshot('../../docs/tools.md');
});
