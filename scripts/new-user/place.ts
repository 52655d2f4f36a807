import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { copyBarePrograms } from './bare-programs.js';

const COMMAND_LIMIT_MS = 300_000;
const BWRAP = '/usr/bin/bwrap';

export interface StartedServer {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/** The machine of a new user: Node and npm, an empty home folder, and nothing in the environment. */
export interface Place {
  /** Where the home folder lies, seen from outside. */
  readonly homeDir: string;
  /** The same, seen by what runs there. */
  readonly home: string;
  readonly tempDir: string;
  /** What it sees of this machine beside the system. */
  readonly visible: readonly string[];
  /** The lines that a person has typed. */
  readonly typed: readonly string[];
  /** Runs a line in a shell as the person types it; its output. Rejects with the output of one that fails. */
  type(line: string): Promise<string>;
  /** How a client of that machine starts a server. */
  server(command: string, args: readonly string[], env?: Readonly<Record<string, string>>): StartedServer;
  remove(): Promise<void>;
}

export interface PlaceOptions {
  /** What that machine sees of this one, read only, beside its own system. */
  readonly visible: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** On Debian with bubblewrap a machine of its own, with the programs of a bare Debian and Node. Elsewhere only home and environment are new. */
export async function createPlace({ visible, env }: PlaceOptions): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'new-user-')));
  const homeDir = join(root, 'home');
  const tempDir = join(root, 'tmp');
  await mkdir(homeDir);
  await mkdir(tempDir);
  const isApart =
    existsSync(BWRAP) && existsSync('/usr/bin/dpkg') && dirname(process.execPath) === '/usr/bin';
  const programs = join(root, 'programs');
  if (isApart) await copyBarePrograms(programs);
  const home = isApart ? '/home/new' : homeDir;
  const own = {
    HOME: home,
    PATH: [
      join(home, '.npm-global', 'bin'),
      join(home, '.local', 'bin'),
      dirname(process.execPath),
      '/usr/bin',
      '/bin',
    ].join(delimiter),
    LANG: 'C.UTF-8',
    TMPDIR: isApart ? '/tmp' : tempDir,
    npm_config_prefix: join(home, '.npm-global'),
    npm_config_update_notifier: 'false',
    ...env,
  };
  const wrapped = (program: string, args: readonly string[]): [string, ...string[]] =>
    isApart
      ? [BWRAP, ...walls({ homeDir, tempDir, programs, visible }), '--', program, ...args]
      : [program, ...args];
  const typed: string[] = [];
  return {
    homeDir,
    home,
    tempDir,
    visible,
    typed,
    type: (line) => {
      typed.push(line);
      return output(wrapped('/bin/sh', ['-c', line]), own, homeDir);
    },
    server: (command, args, more = {}) => {
      const [program, ...words] = wrapped(command, args);
      return { command: program, args: words, env: { ...own, ...more }, cwd: homeDir };
    },
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function walls({
  homeDir,
  tempDir,
  programs,
  visible,
}: Pick<PlaceOptions, 'visible'> & Readonly<Record<'homeDir' | 'tempDir' | 'programs', string>>): string[] {
  const etc = ['/etc/ssl', '/etc/ca-certificates', '/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf'];
  return [
    ...['--unshare-all', '--share-net', '--die-with-parent', '--uid', '1000', '--gid', '1000'],
    ...['--ro-bind', programs, '/usr/bin', '--ro-bind', '/usr/lib', '/usr/lib'],
    ...['/usr/lib64', '/usr/share/npm', ...etc].flatMap((path) => ['--ro-bind-try', path, path]),
    ...['bin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev', '--bind', tempDir, '/tmp', '--bind', homeDir, '/home/new'],
    ...visible.flatMap((path) => ['--ro-bind', path, path]),
    ...['--chdir', '/home/new'],
  ];
}

function output(
  [program, ...args]: readonly [string, ...string[]],
  env: Record<string, string>,
  cwd: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env,
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: COMMAND_LIMIT_MS,
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(text);
      else reject(new Error(`exit code ${code ?? 'none'}:\n${text}`));
    });
  });
}
