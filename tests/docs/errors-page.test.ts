import { expect, test } from 'vitest';
import { errorsPage } from '../../scripts/docs/errors-page.js';
import { errorCodes } from '../../src/base/errors.js';

test('docs/errors.md is what the error codes say; renew it with: npm run docs', async () => {
  await expect(errorsPage(errorCodes)).toMatchFileSnapshot('../../docs/errors.md');
});
