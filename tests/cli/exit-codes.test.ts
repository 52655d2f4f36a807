import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { exitCodeOfEnd, exitCodes } from '../../src/cli/exit-codes.js';

it('docs/guide.md has every exit code', async () => {
  const page = await readFile(new URL('../../docs/guide.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('## Exit codes\n');
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^- `(\d+)`: /gm)].map(([, code]) =>
    Number(code),
  );
  expect(rows).toEqual(Object.values(exitCodes));
});

it.each([
  ['completed', ['met', 'met'], exitCodes.done],
  ['completed', ['met', 'not met'], exitCodes.failed],
  ['completed', ['not run'], exitCodes.failed],
  ['timeout', ['not met'], exitCodes.timeout],
] as const)('a task that ended as %s with its checks %j', (status, verdicts, code) => {
  const results = verdicts.map((verdict) => ({ name: verdict, command: verdict, verdict }));
  expect(exitCodeOfEnd({ status, checked: { results, rounds: 0 } })).toBe(code);
});
