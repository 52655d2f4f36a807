import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import { findProgram } from '../../pty/find-program.js';

const TRIAL_LIMIT_MS = 10_000;
const SHOWN_CHARS = 200;
/** The namespaces and mounts that Claude Code gives to a command. */
const TRIAL_ARGUMENTS = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true'];
const INSTALL =
  'Install them: sudo apt install bubblewrap socat (Debian, Ubuntu), sudo dnf install bubblewrap socat (Fedora).';
const SEATBELT = '/usr/bin/sandbox-exec';

export interface SandboxPlace {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Resolves when Claude Code's sandbox for commands works here; on Linux it tries one. Throws SANDBOX_UNAVAILABLE with the command that
 * helps.
 */
export async function checkSandbox({ platform, env }: SandboxPlace): Promise<void> {
  if (platform === 'darwin') {
    if (!(await isInstalled(SEATBELT, env)))
      throw unavailable(`${SEATBELT} is missing.`, 'It is part of macOS.');
    return;
  }
  if (platform !== 'linux')
    throw unavailable(`Claude Code has no sandbox for ${platform}.`, 'Use Linux, WSL 2 or macOS.');
  const programs = ['bwrap', 'socat'] as const;
  const installed = await Promise.all(programs.map((name) => isInstalled(name, env)));
  const missing = programs.filter((_, index) => installed[index] === false);
  if (missing.length > 0) throw unavailable(`Missing on PATH: ${missing.join(', ')}.`, INSTALL);
  const error = await trialError(env);
  if (error !== undefined)
    throw unavailable(`bwrap cannot create a sandbox: ${oneLine(error, SHOWN_CHARS)}`, await remedy());
}

/** Where sessions that a person starts keep what their commands print and the scripts of their skills, and sandboxed commands may write (2.1.330). */
export function sharedTemporaryFolder(env: SandboxPlace['env']): string {
  return resolve('/tmp', env['TMPDIR'] ?? '', `claude-${process.getuid?.() ?? 0}`);
}

/** Words before a command with which it sees `folder` instead of the shared one; undefined where the system refuses, as macOS and AppArmor do. */
export async function ownTemporaryFolder(
  folder: string,
  { platform, env }: SandboxPlace,
): Promise<readonly string[] | undefined> {
  if (platform !== 'linux') return undefined;
  const program = await findProgram('bwrap', '/', env);
  const words = ['--dev-bind', '/', '/', '--bind', folder, sharedTemporaryFolder(env), '--'];
  const error = await trialError(env, [...words, program, ...TRIAL_ARGUMENTS]);
  return error === undefined ? [program, ...words] : undefined;
}

async function isInstalled(program: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    await findProgram(program, '/', env);
    return true;
  } catch (error) {
    if (error instanceof BridgeError) return false;
    throw error;
  }
}

/** The error of bwrap when it cannot make a sandbox; undefined when it can. */
function trialError(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = TRIAL_ARGUMENTS,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      'bwrap',
      args,
      { env, cwd: '/', timeout: TRIAL_LIMIT_MS, killSignal: 'SIGKILL' },
      (error, _out, said) => {
        if (error === null) resolve(undefined);
        else resolve(said.trim() === '' ? error.message : said.trim());
      },
    );
  });
}

/** Kernel switches that deny namespaces to ordinary users, with the values that turn namespaces off and on. */
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
    return `User namespaces are disabled for ordinary users. Enable them: sudo sysctl -w ${name}=${on}${profile}.`;
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
    `The mode sandboxed was requested, but no sandbox is available here. ${what}`,
    hint,
  );
}
