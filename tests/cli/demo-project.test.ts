import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDemoProject, demoScript, readDiff } from '../../src/cli/demo/demo-project.js';
import { runCommand } from '../../src/cli/demo/run-command.js';

const PATH = process.env['PATH'] ?? '';

describe('the demo project', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'bridge-demo-')));
    await createDemoProject(folder, PATH);
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const runTest = () =>
    runCommand([process.execPath, 'test.js'], { cwd: folder, env: {}, timeoutMs: 10_000 });

  it('is committed, and its test fails', async () => {
    expect(await readDiff(folder, PATH)).toBe('');
    expect((await runTest()).exitCode).toBe(1);
  });

  it('passes its test after the edit that the scripted model makes', async () => {
    const edit = demoScript(folder)
      .flatMap((turn) => turn.tools ?? [])
      .find((tool) => tool.name === 'Edit');
    const file = join(folder, 'average.js');
    const before = await readFile(file, 'utf8');
    const after = before.replace(String(edit?.input['old_string']), String(edit?.input['new_string']));
    await writeFile(file, after);
    expect(await readDiff(folder, PATH)).toContain('+  for (let i = 0;');
    expect(await runTest()).toMatchObject({ exitCode: 0, stdout: '2 tests passed\n' });
  });
});
