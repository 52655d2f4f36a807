import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { MARK_VARIABLE } from './child-env.js';

const PS_LIMIT_MS = 5_000;
const PS_MAX_BYTES = 64 * 1024 * 1024;
const markPattern = new RegExp(`(?:^|[\\0 ])${MARK_VARIABLE}=([^\\0 ]+)`, 'g');

/** What runs on this machine, as far as it may be seen: the marks that processes carry, and all command lines. */
export interface RunningMarks {
  readonly marks: ReadonlySet<string>;
  /** Command lines in one text: whether a task's keeper runs is told by the task's id in it. */
  readonly commands: string;
}

/**
 * Looks at every process of this user. On macOS programs under system protection hide their environment: their marks are
 * not seen. Rejects when `ps` fails; a process that ends meanwhile is left out.
 */
export async function runningMarks(): Promise<RunningMarks> {
  if (process.platform !== 'linux') return marksOfPs();
  const marks = new Set<string>();
  const commands: string[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(name)) continue;
    try {
      commands.push(readFileSync(`/proc/${name}/cmdline`, 'latin1'));
      for (const [, mark] of readFileSync(`/proc/${name}/environ`, 'latin1').matchAll(markPattern))
        if (mark !== undefined) marks.add(mark);
    } catch {
      // Gone meanwhile, or another user's: not one that the bridge started.
    }
  }
  return { marks, commands: commands.join('\n') };
}

async function marksOfPs(): Promise<RunningMarks> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-E', '-ww', '-o', 'command='], {
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
    timeout: PS_LIMIT_MS,
    maxBuffer: PS_MAX_BYTES,
  });
  const marks = new Set([...stdout.matchAll(markPattern)].flatMap(([, mark]) => mark ?? []));
  return { marks, commands: stdout };
}
