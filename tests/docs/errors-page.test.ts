import { expect, test } from 'vitest';
import { errorsPage } from '../../scripts/docs/errors-page.js';
import { errorCodes } from '../../src/base/errors.js';

test('docs/errors.md is what the error codes say; renew it with: npm run docs', async () => {
  const named = errorsPage(errorCodes).matchAll(/^\| `[A-Z_]+` \| (.*) \| .* \|$/gm);
  const codes = [...named].flatMap(([, here = '']) => here.match(/(?<=`)[A-Z_]+(?=`)/g) ?? []);
  expect(codes.filter((code) => !Object.hasOwn(errorCodes, code))).toEqual([]);
  expect(codes).toContain('NOT_A_REPOSITORY');
  await expect(errorsPage(errorCodes)).toMatchFileSnapshot('../../docs/errors.md');
});
