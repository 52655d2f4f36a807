import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runExplain } from '../../../src/cli/explain.js';
import { bundledProgram } from '../../harness/bundled-program.js';

const checkWorker = bundledProgram(new URL('../../../src/approvals/shell/check-worker.ts', import.meta.url));

let folder: string;
let configPath: string;
let lines: string[];

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'explain-')));
  await mkdir(join(folder, 'app'));
  configPath = join(folder, 'config.json');
  const rules = [
    { rule: 'Bash(git push *)', verdict: 'deny', reason: 'A person pushes.' },
    { rule: 'Bash(make)', verdict: 'allow', reason: 'It is ours.' },
    { rule: 'Edit(migrations/**)', verdict: 'ask', reason: 'They are looked at first.' },
  ];
  await writeFile(configPath, JSON.stringify({ allowed_roots: [folder], rules }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function explain(tool: string, input: string, mode = 'auto', project = 'app'): Promise<number> {
  lines = [];
  return runExplain({
    tool,
    input,
    mode,
    project,
    configPath,
    env: {},
    cwd: folder,
    homeDir: folder,
    checkWorker: pathToFileURL(checkWorker()),
    write: (line) => lines.push(line),
  });
}

describe('explain', () => {
  it('gives the verdict of a shell line, and of each of its commands the rule', async () => {
    expect(await explain('Bash', 'make && git push origin', 'cautious')).toBe(3);
    expect(lines).toEqual([
      'deny: A person pushes. (git push origin)',
      '  rule     Bash(git push *)',
      '  mode     cautious',
      `  project  ${join(folder, 'app')}`,
      `  settings ${configPath}, 3 rules`,
      'its commands:',
      '  allow "make"',
      '        Bash(make): It is ours.',
      '  deny  "git push origin"',
      '        Bash(git push *): A person pushes.',
    ]);
  });

  it.each([
    ['allow', 0, 'Bash', 'make', 'cautious'],
    ['allow', 0, 'Bash', '{ make; }', 'auto'],
    ['ask', 2, 'Bash', 'make install', 'cautious'],
    ['ask', 2, 'Edit', 'migrations/1.sql', 'auto'],
    ['ask', 2, 'Edit', '{"file_path": "migrations/1.sql"}', 'auto'],
    ['allow', 0, 'Read', 'a.txt', 'cautious'],
    ['ask', 2, 'WebFetch', 'https://example.com', 'cautious'],
  ])('%s is told by the exit code %i: %s %s, %s', async (verdict, code, tool, input, mode) => {
    expect(await explain(tool, input, mode)).toBe(code);
    expect(lines[0]).toMatch(new RegExp(`^${verdict}: `));
  });

  it.each([
    [
      'a mode that is none',
      ['Bash', 'ls', 'bold'],
      'INVALID_ARGUMENTS',
      /--mode must be one of .* \(got "bold"\)/,
    ],
    ['input that is no JSON', ['Edit', '{oops', 'auto'], 'INVALID_ARGUMENTS', /not valid JSON/],
    ['a project that is not there', ['Bash', 'ls', 'auto', 'gone'], 'PATH_NOT_FOUND', /gone/],
  ] as const)('%s is refused', async (_, [tool, input, mode, project], code, message) => {
    const refusal = explain(tool, input, mode, project);
    await expect(refusal).rejects.toMatchObject({ code });
    await expect(refusal).rejects.toThrow(message);
    expect(lines).toEqual([]);
  });
});
