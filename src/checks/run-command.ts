import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { messageOf } from '../base/errors.js';
import { systemClock as clock } from '../base/system-clock.js';
import { MARK_VARIABLE } from '../os/mark-variable.js';
import { pidOf } from '../os/pid.js';
import { sessionKeys } from '../pty/child-env.js';
import { killTree } from '../pty/kill-ladder.js';

const GRACE_MS = 1_000;
/**
 * No stdin and no terminal; errors in their place between the output. The pipe that is its stdin ends with this process, however that
 * ends, and then the group of the command does.
 */
const WORDS = `exec 3<&0 2>&1 </dev/null
{ read -r _ <&3; kill -9 -$$; } >/dev/null 2>&1 &
exec 3<&-; "$@"
code=$?; kill $!; exit $code`;

/** Begins a command line in a folder, without a terminal. Rejects with why nothing was started. */
export type StartLine = (command: string, cwd: string) => Promise<StartedLine>;

export interface StartedLine {
  readonly stdout: Readable;
  /** With the exit code, or the signal that ended it. Rejects where it did not begin. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** Ends what is left of it, and all that it started. Rejects when processes cannot be listed. */
  readonly end: (isOver: boolean) => Promise<unknown>;
  /** The exit code of the command, for that of what it ran in. Throws with why it did not run. */
  readonly codeOf?: ((code: number, output: string) => number) | undefined;
}

export interface HostLines {
  readonly shell: string;
  /** Without the keys of a session, but for those that the user lets through by `passed`. */
  readonly env: Readonly<Record<string, string>>;
  readonly passed?: readonly string[];
  /** Every process of the command has it. */
  readonly mark: string;
  /** The `startId` of the process that made the mark. */
  readonly startedSince: string | undefined;
  readonly sandbox?: Sandbox | undefined;
}

/** Confines the words of a command. */
export interface Sandbox extends Pick<StartedLine, 'codeOf'> {
  /** The words that run these words inside. Throws with why there is no sandbox. */
  words(inside: readonly string[]): readonly string[];
}

/** Runs command lines on this machine, by a shell. */
export function hostLines({ shell, passed = [], mark, startedSince, sandbox, ...all }: HostLines): StartLine {
  const keys = sessionKeys(all.env, passed);
  const kept = Object.entries(all.env).filter(([name]) => !keys.includes(name));
  const env = { ...Object.fromEntries(kept), [MARK_VARIABLE]: mark };
  return async (command, cwd) => {
    const plain = [shell, '-c', command];
    const words = sandbox?.words(plain) ?? plain;
    const stdio: ['pipe', 'pipe', 'ignore'] = ['pipe', 'pipe', 'ignore'];
    const child = spawn('/bin/sh', ['-c', WORDS, 'sh', ...words], { cwd, env, stdio, detached: true });
    // It reads nothing, and may be gone before.
    child.stdin.on('error', () => undefined);
    const target = { mark, startedSince, isWrapped: false, graceMs: GRACE_MS, clock };
    return {
      stdout: child.stdout,
      exited: new Promise((resolve, reject) => {
        child.once('exit', (code, name) => resolve(code ?? name ?? 'SIGKILL'));
        child.once('error', (error) => reject(new Error(`it could not be started: ${messageOf(error)}`)));
      }),
      // Also what the command left behind, which may hold its output open.
      end: () => killTree({ ...target, pid: pidOf(child.pid) }),
      codeOf: sandbox?.codeOf,
    };
  };
}
