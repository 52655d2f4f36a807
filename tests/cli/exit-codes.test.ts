import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.js';

it('docs/guide.md has every exit code', async () => {
  const page = await readFile(new URL('../../docs/guide.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## Exit codes\n');
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^- `(\d+)`: /gm)].map(([, code]) =>
    Number(code),
  );
  expect(rows).toEqual(Object.values(exitCodes));
});
