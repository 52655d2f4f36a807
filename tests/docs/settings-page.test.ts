import { expect, test } from 'vitest';
import { settingsPage } from '../../scripts/docs/settings-page.js';

test('docs/settings.md is what the schema says; renew it with: npm run docs', async () => {
  await expect(settingsPage()).toMatchFileSnapshot('../../docs/settings.md');
});
