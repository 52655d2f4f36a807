import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What was there a moment ago may be on its way out: a keeper ends a little after its task. */
const SETTLE_LIMIT_MS = 10_000;
const LOOK_INTERVAL_MS = 100;

/** Every project of a run loads this file again, so what they share is kept where the workers find it too. */
const FOLDER = 'SUITE_FOLDER';
const USERS = 'SUITE_FOLDER_USERS';
const BEFORE = 'SUITE_FOLDER_BEFORE';
/** Made and removed by scripts/check, which also ends what an interrupted run leaves. */
const GIVEN = 'CHECK_FOLDER';

/**
 * Vitest's global set-up: the temp folder of this run, in which every test makes its own. A short name: paths of sockets
 * have about 100 characters. When the run is over the folder must be empty and no process may live that was started in
 * it, whoever started it.
 */
export function setup(): () => Promise<void> {
  const users = Number(process.env[USERS] ?? 0);
  process.env[USERS] = String(users + 1);
  if (users === 0) {
    process.env[BEFORE] = process.env['TMPDIR'] ?? '';
    const folder = process.env[GIVEN] ?? realpathSync(mkdtempSync(join(tmpdir(), 'suite-')));
    process.env[FOLDER] = folder;
    // The workers inherit it.
    process.env['TMPDIR'] = folder;
    // tsx would keep what it compiled in the temp folder.
    process.env['TSX_DISABLE_CACHE'] = '1';
  }
  return teardown;
}

async function teardown(): Promise<void> {
  const users = Number(process.env[USERS]) - 1;
  process.env[USERS] = String(users);
  if (users > 0) return;
  const folder = process.env[FOLDER] ?? '';
  const before = process.env[BEFORE] ?? '';
  if (before === '') delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  const left = await settled(() => [
    ...processesOf(folder),
    ...readdirSync(folder).map((name) => join(folder, name)),
  ]);
  if (process.env[GIVEN] === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  if (left.length === 0) return;
  // Vitest only tells an error of a teardown; the run must not count as passed.
  process.exitCode = 1;
  throw new Error(`The tests left behind:\n${left.join('\n')}`);
}

async function settled(look: () => string[]): Promise<string[]> {
  const deadlineMs = performance.now() + SETTLE_LIMIT_MS;
  for (;;) {
    const left = look();
    if (left.length === 0 || performance.now() > deadlineMs) return left;
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
  }
}

/** Processes other than the run's own whose environment or working directory names the folder; Linux only, by /proc. */
function processesOf(path: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        // Vitest's own workers carry the folder as TMPDIR and are children of this process.
        if (readFileSync(`/proc/${pid}/stat`, 'latin1').includes(`) S ${process.pid} `)) return [];
        const isOurs =
          readFileSync(`/proc/${pid}/environ`, 'latin1').includes(path) ||
          readlinkSync(`/proc/${pid}/cwd`).startsWith(path);
        return isOurs
          ? [`process ${pid}: ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`]
          : [];
      } catch {
        // It ended between two looks, or is another user's.
        return [];
      }
    });
}
