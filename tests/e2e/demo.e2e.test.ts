import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { describeNewestClaude } from '../harness/real-claude.js';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

describeNewestClaude('claude-code-bridge demo', ({ binary }) => {
  it('shows a file that the real CLI changed, and leaves nothing behind', async () => {
    const temp = await mkdtemp(join(tmpdir(), 'ccb-demo-test-'));
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [main, 'demo', '--claude', binary], {
        env: {
          HOME: temp,
          TMPDIR: temp,
          PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
          LANG: 'C.UTF-8',
        },
      });
      expect(stdout).toContain('respond_to_task');
      expect(stdout).toMatch(/^ {2}\+ {2}for \(let i = 0;/m);
      expect(stdout).toMatch(/Server stopped, .* removed\./);
      // The folder of the sockets stays, empty, for the next server.
      const left = await readdir(temp, { recursive: true });
      expect(left.filter((name) => !/^ccb-\d+$/.test(name))).toEqual([]);
    } finally {
      await rm(temp, { recursive: true, force: true });
    }
  });
});
