import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { errorsPage } from '../../scripts/docs/errors-page.js';
import { errorCodes } from '../../src/base/errors.js';

test('docs/errors.md is what the error codes say; renew it with: npm run docs', async () => {
  const names = await readFile('scripts/docs/error-names.md', 'utf8');
  const page = errorsPage(errorCodes, names);
  const named = page.matchAll(/^\| `[A-Z_]+` +\| (.*) \| .* \|$/gm);
  const codes = [...named].flatMap(([, here = '']) => here.match(/(?<=`)[A-Z_]+(?=`)/g) ?? []);
  expect(codes.filter((code) => !Object.hasOwn(errorCodes, code))).toEqual([]);
  expect(codes).toContain('NOT_A_REPOSITORY');
  await expect(page).toMatchFileSnapshot('../../docs/errors.md');
});
