import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { writeRules } from '../../src/config/write-rules.js';
import { createWorkplace } from '../harness/workplace.js';

const row = { rule: 'Bash(git diff *)', verdict: 'allow', reason: 'It only reads.' } as const;

let file: string;

beforeEach(async () => {
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  file = join(workplace.root, 'new', 'config.json');
});

it('makes a file for the owner alone', async () => {
  await writeRules(file, [row]);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ rules: [row] });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('keeps comments, layout and mode, and adds no row twice', async () => {
  await writeRules(file, [row]);
  const before = `{
  // What I work on.
  "allowed_roots": ["/home/ann"],
  "rules": [
    { "rule": "Bash(make)", "verdict": "allow", "reason": "Ours." }, // mine
  ],
}
`;
  await writeFile(file, before);
  await chmod(file, 0o640);
  await writeRules(file, [row]);
  const after = await readFile(file, 'utf8');
  expect(after).toContain('// What I work on.');
  expect(after).toContain('// mine');
  expect(after).toContain('"Bash(git diff *)"');
  expect((await stat(file)).mode & 0o777).toBe(0o640);
  await writeRules(file, [row]);
  expect(await readFile(file, 'utf8')).toBe(after);
});

it('leaves a file that is broken, and writes no row that is none', async () => {
  await writeRules(file, [row]);
  await writeFile(file, '{ "rules": [');
  await expect(writeRules(file, [row])).rejects.toThrow('config.json:1');
  await writeFile(file, '{ "rules": {} }');
  await expect(writeRules(file, [row])).rejects.toThrow('its rules are no list of rules');
  await writeFile(file, '{}');
  await expect(writeRules(file, [{ ...row, rule: 'Bash( x)' }])).rejects.toThrow('without spaces around it');
  expect(await readFile(file, 'utf8')).toBe('{}');
});
