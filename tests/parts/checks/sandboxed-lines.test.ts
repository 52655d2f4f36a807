import { existsSync } from 'node:fs';
import { chmod, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSecret } from '../../../src/base/ids.js';
import { checkSchema } from '../../../src/checks/brief.js';
import { runCheck } from '../../../src/checks/check-runner.js';
import { hostLines } from '../../../src/checks/run-command.js';
import { sandboxOf } from '../../../src/checks/sandboxed-lines.js';
import { MARK_VARIABLE } from '../../../src/os/mark-variable.js';

const PROGRAM_MODE = 0o755;
let folder: string;
/** All that is on the PATH. */
let programs: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'checks-')));
  programs = await mkdtemp(join(tmpdir(), 'checks-'));
  for (const name of ['bash', 'sh', 'touch', 'true']) await symlink(`/bin/${name}`, join(programs, name));
});
afterEach(async () => {
  for (const one of [folder, programs]) await rm(one, { recursive: true, force: true });
});

async function program(name: string, text: string): Promise<void> {
  await writeFile(join(programs, name), `#!/bin/sh\n${text}\n`);
  await chmod(join(programs, name), PROGRAM_MODE);
}

/** What becomes of a command in a sandbox that may write into the folder. */
async function endOf(command: string) {
  const mark = createSecret();
  const rules = {
    network: { allowedDomains: [] },
    filesystem: { allowWrite: [folder], denyWrite: [], denyRead: [] },
  };
  const sandbox = await sandboxOf(rules, join(programs, 'sandbox.json'), programs);
  const env = { PATH: programs, HOME: folder, [MARK_VARIABLE]: mark };
  const start = hostLines({ shell: '/bin/sh', env, mark, startedSince: undefined, sandbox });
  const check = checkSchema.parse({ name: 'one', command, timeout_seconds: 20 });
  const place = { start, folder, outputFolder: programs };
  return runCheck(check, place, 'out.txt', new AbortController().signal);
}

it.runIf(process.platform === 'linux')('without bubblewrap nothing runs', async () => {
  expect(await endOf('touch ran.txt')).toMatchObject({
    verdict: 'not run',
    why: expect.stringMatching(/^no sandbox: .*bubblewrap \(bwrap\) not installed/) as string,
  });
  expect(existsSync(join(folder, 'ran.txt'))).toBe(false);
});

it.runIf(process.platform === 'linux')(
  'where bubblewrap is refused its namespaces nothing runs',
  async () => {
    await program('socat', 'exec /bin/sleep 5');
    await program('bwrap', 'echo "bwrap: No permissions to create a new namespace" >&2; exit 1');
    expect(await endOf('touch ran.txt')).toMatchObject({
      verdict: 'not run',
      why: expect.stringMatching(/^no sandbox: /) as string,
    });
    expect(existsSync(join(folder, 'ran.txt'))).toBe(false);
  },
);
