import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { oneLine } from '../../base/text/text.js';
import { findProgram } from '../../pty/find-program.js';

/**
 * The oldest version whose sandbox held against the attacks in the tests. 2.1.197 itself runs git in repositories that a command
 * has made, outside of the sandbox, and follows links by which a command replaces its output.
 */
export const OLDEST_SANDBOX_VERSION = '2.1.330';

const TRY_LIMIT_MS = 10_000;
const SHOWN_CHARS = 200;
/** The namespaces and mounts that Claude Code gives to a command. */
const TRIED = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true'];
const INSTALL =
  'Install them: sudo apt install bubblewrap socat (Debian, Ubuntu), sudo dnf install bubblewrap socat (Fedora).';
const SEATBELT = '/usr/bin/sandbox-exec';

export interface SandboxPlace {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Resolves when Claude Code's sandbox for commands can work here: on Linux a sandbox is made, for a try. Throws
 * SANDBOX_UNAVAILABLE with the command that mends it.
 */
export async function checkSandbox({ platform, env }: SandboxPlace): Promise<void> {
  if (platform === 'darwin') {
    if (!(await isThere(SEATBELT, env))) throw unavailable(`${SEATBELT} is missing.`, 'It is part of macOS.');
    return;
  }
  if (platform !== 'linux')
    throw unavailable(`Claude Code has none for ${platform}.`, 'Use Linux, WSL 2 or macOS.');
  const programs = ['bwrap', 'socat'] as const;
  const there = await Promise.all(programs.map((name) => isThere(name, env)));
  const missing = programs.filter((_, index) => there[index] === false);
  if (missing.length > 0) throw unavailable(`Missing on PATH: ${missing.join(', ')}.`, INSTALL);
  const error = await tried(env);
  if (error !== undefined)
    throw unavailable(`bwrap cannot make one: ${oneLine(error, SHOWN_CHARS)}`, await remedy());
}

async function isThere(program: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    await findProgram(program, '/', env);
    return true;
  } catch (error) {
    if (error instanceof BridgeError) return false;
    throw error;
  }
}

/** What bwrap says when it fails. */
function tried(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      'bwrap',
      TRIED,
      { env, cwd: '/', timeout: TRY_LIMIT_MS, killSignal: 'SIGKILL' },
      (error, _out, said) => {
        if (error === null) resolve(undefined);
        else resolve(said.trim() === '' ? error.message : said.trim());
      },
    );
  });
}

/** Switches of the kernel that keep ordinary users from namespaces, with what turns them. */
const SWITCHES = [
  { file: '/proc/sys/kernel/apparmor_restrict_unprivileged_userns', off: '1', on: '0' },
  { file: '/proc/sys/kernel/unprivileged_userns_clone', off: '0', on: '1' },
  { file: '/proc/sys/user/max_user_namespaces', off: '0', on: '10000' },
] as const;

async function remedy(): Promise<string> {
  for (const { file, off, on } of SWITCHES) {
    if ((await textOf(file)) !== off) continue;
    const name = file.slice('/proc/sys/'.length).replaceAll('/', '.');
    const profile = name.includes('apparmor') ? ', or give bwrap an AppArmor profile with "userns"' : '';
    return `User namespaces are switched off for ordinary users. Switch them on: sudo sysctl -w ${name}=${on}${profile}.`;
  }
  return 'In a container, allow user namespaces and a new /proc (docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined), or use permission_mode "cautious".';
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    // This kernel has no such switch.
    if (systemCodeOf(error) !== undefined) return undefined;
    throw error;
  }
}

function unavailable(what: string, hint: string): BridgeError {
  return new BridgeError(
    'SANDBOX_UNAVAILABLE',
    `Mode sandboxed was asked for, but there is no sandbox here. ${what}`,
    hint,
  );
}
