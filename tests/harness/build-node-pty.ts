import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** node-gyp compiles one small file; minutes mean that it waits for something. */
const BUILD_LIMIT_MS = 120_000;

/**
 * `node-pty` is the bridge's second choice and has no prebuilt binary for Linux: a part of the long form compiles it here once, so
 * that the contract suite runs on it, too. Throws where there is no compiler.
 */
export function setup(): void {
  if (loads()) return;
  execFileSync('npm', ['rebuild', 'node-pty', '--ignore-scripts=false'], {
    stdio: 'pipe',
    timeout: BUILD_LIMIT_MS,
  });
  if (!loads()) throw new Error('node-pty was built and still does not load.');
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
