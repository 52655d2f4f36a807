import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../src/base/errors.js';

/** node-gyp compiles one small file; minutes mean that it waits for something. */
const BUILD_LIMIT_MS = 120_000;

/**
 * `node-pty` is the bridge's second choice and has no prebuilt binary for Linux: it is compiled here once, so that the
 * contract suite runs on it too. A machine without a compiler runs the suite on the first choice alone and is told so;
 * in CI that is a failure.
 */
export function setup(): void {
  if (loads()) return;
  try {
    execFileSync('npm', ['rebuild', 'node-pty', '--ignore-scripts=false'], {
      stdio: 'pipe',
      timeout: BUILD_LIMIT_MS,
    });
  } catch (error) {
    tell(messageOf(error));
    return;
  }
  if (!loads()) tell('it was built and still does not load');
}

function loads(): boolean {
  try {
    execFileSync(process.execPath, ['-e', "require('node-pty')"], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: 'ignore',
    });
    return true;
  } catch {
    // Not built yet: that is what this file is for.
    return false;
  }
}

function tell(why: string): void {
  const words = `node-pty could not be built, so the contract suite does not run on it: ${why}`;
  if (process.env['CI'] === 'true') throw new Error(words);
  process.stderr.write(`${words}\n`);
}
