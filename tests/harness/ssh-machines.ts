import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { scriptedClaudeEnvironment, writeClaudeHome } from '../../src/cli/demo/claude-home.js';
import { FORWARDED_API, openApiSocket } from './api-socket.js';
import { SSHD } from './need-table.js';
import { realPid } from './real-pid.js';
import { until } from './until.js';

const run = promisify(execFile);
const checkout = join(import.meta.dirname, '..', '..');
const init = join(import.meta.dirname, 'ssh-machine-init.sh');

/** Whose home is HOME: none of this machine. */
const UID = 4711;
const HOME = '/home/dev';
const PATH = '/opt/machine/bin:/opt:/usr/local/bin:/usr/bin:/bin';
/** Where the checkout is seen there, read-only. */
export const APP = '/opt/app';
const API = { homeDir: HOME, apiUrl: FORWARDED_API, path: PATH };
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** 198.18.0.0/15 is reserved for tests (RFC 2544): a network of four addresses for each machine. */
const NETWORKS = 32_768;
const ADDRESSES = 4;

/**
 * `link`: the cable is out. `stall`: both ends swallow each packet, and nothing says so. `reset`: each open connection is reset, once.
 */
export type Cut = 'link' | 'stall' | 'reset';

export interface SshMachineOptions {
  readonly name: string;
  /** The API that its Claude Code speaks to; it stays within reach when the line is cut. */
  readonly apiUrl: string;
  /** The program of Claude Code; on PATH there. */
  readonly claude: string;
  /** Further environment of its user. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Another machine, made on this one: network, processes, mounts, host name, user, HOME and sshd of its own, with the built bridge on PATH. It
 * ends with the process that made it, however that ends: its first process ends with its standard input, and takes all with it.
 */
export interface SshMachine {
  readonly name: string;
  /** For the setting `machines`. The user's own settings of ssh are not read. */
  readonly command: readonly string[];
  /** Of the machine itself, as this one sees it; /opt/machine there. */
  readonly machineDir: string;
  /** Of the user there, as this machine sees it. */
  readonly homeDir: string;
  readonly stateDir: string;
  /** Makes a folder in the user's home there, whose name goes on with a number; its path there. */
  folder(name: string): Promise<string>;
  /** The words that run a program there as its user, without ssh. */
  inside(words: readonly string[]): readonly [string, ...string[]];
  /** Runs a program there that way, also while the line is cut. Its standard output; rejects when it fails. */
  exec(words: readonly string[]): Promise<string>;
  /** The command lines of all that runs there but what makes up the machine, by their pids on this one. */
  processes(): Promise<ReadonlyMap<number, string>>;
  cut(how: Cut): Promise<void>;
  /** Undoes `link` and `stall`. */
  restore(): Promise<void>;
  end(): Promise<void>;
}

/** Starts a machine; needs what `machines` of the need table says. */
export async function startSshMachine(options: SshMachineOptions): Promise<SshMachine> {
  const me = await mkdtemp(join(await realpath(tmpdir()), 'm-'));
  const folder = join(me, options.name);
  const env = userEnvironment(options);
  await prepare(folder, options.name, env);
  const api = await openApiSocket(join(folder, 'api.sock'), options.apiUrl);
  const holder = spawn(
    'unshare',
    [
      ...['--mount', '--uts', '--ipc', '--net', '--pid', '--fork', '--kill-child'],
      ...[
        'sh',
        init,
        folder,
        checkout,
        join(checkout, SSHD),
        await realpath(process.execPath),
        options.claude,
      ],
    ],
    { cwd: '/', env: { PATH: process.env['PATH'] }, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  try {
    const pid = await firstProcess(holder);
    const line = await connectLine(pid);
    await until(`${options.name} is reached`, () => answers(line.far));
    return machineOf({ name: options.name, folder, holder, pid, line, api, env });
  } catch (error) {
    await endAll(holder, api, me);
    throw error;
  }
}

function userEnvironment({ env }: SshMachineOptions): Record<string, string> {
  return {
    ...scriptedClaudeEnvironment(API),
    MCP_CLAUDE_COMMAND: '/opt/claude',
    MCP_ALLOWED_ROOTS: HOME,
    ...env,
  };
}

/** Keys, HOME and settings, in a folder of this machine that is /opt/machine there. */
async function prepare(folder: string, name: string, env: Readonly<Record<string, string>>): Promise<void> {
  const home = join(folder, 'home');
  for (const path of [join(home, '.ssh'), join(folder, 'opt'), join(folder, 'bin')])
    await mkdir(path, { recursive: true });
  for (const key of ['key', 'host_key'])
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', join(folder, key)]);
  await writeFile(join(home, '.ssh', 'authorized_keys'), await readFile(join(folder, 'key.pub')));
  await writeClaudeHome(home, { trustedProjects: [HOME] });
  await writeLauncher(folder, APP);
  const people = [`dev:x:${UID}:${UID}::${HOME}:/bin/bash`, 'sshd:x:4710:65534::/run/sshd:/usr/sbin/nologin'];
  for (const [file, lines] of Object.entries({ passwd: people, group: [`dev:x:${UID}:`] })) {
    const names = lines.map((line) => line.replace(/:.*/, ':'));
    const others = (await readFile(join('/etc', file), 'utf8')).split('\n');
    const kept = others.filter((line) => line !== '' && !names.some((one) => line.startsWith(one)));
    await writeFile(join(folder, file), `${[...kept, ...lines].join('\n')}\n`);
  }
  const quoted = Object.entries(env).map(([key, value]) => `"${key}=${value.replace(/["\\]/g, '\\$&')}"`);
  const lines = [
    ...['HostKey /opt/machine/host_key', 'AuthorizedKeysFile .ssh/authorized_keys', 'StrictModes no'],
    ...['UsePAM no', 'UseDNS no', 'PasswordAuthentication no', 'PidFile none', 'MaxStartups 100:30:200'],
    `SetEnv ${quoted.join(' ')}`,
  ];
  await writeFile(join(folder, 'sshd_config'), `${lines.join('\n')}\n`);
  await run('chown', ['-R', `${UID}:${UID}`, home]);
  await chmod(join(home, '.ssh'), 0o700);
}

/** Makes `claude-code-bridge` of a machine, by its folder, the one of an app folder as it is seen there. */
export async function writeLauncher(folder: string, app: string): Promise<void> {
  const path = join(folder, 'bin', 'claude-code-bridge');
  await rm(path, { force: true });
  await writeFile(path, `#!/bin/sh\nexec /opt/node ${app}/dist/main.js "$@"\n`, { mode: 0o755 });
}

/** The pid of the machine's first process, once it has made its mounts. */
async function firstProcess(holder: ChildProcess): Promise<number> {
  let said = '';
  holder.stderr?.on('data', (part: Buffer) => (said += part.toString()));
  const ready = holder.stdout === null ? Promise.reject(new Error('no output')) : once(holder.stdout, 'data');
  const ended = once(holder, 'exit').then(() =>
    Promise.reject(new Error(`The machine did not start: ${said}`)),
  );
  await Promise.race([ready, ended]);
  ended.catch(() => undefined);
  const pid = realPid(holder.pid);
  return Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1'));
}

interface Line {
  /** The network interface of this machine. */
  readonly interfaceName: string;
  readonly far: string;
}

/** A pair of network interfaces, one of which goes into the machine: both end with it. */
async function connectLine(pid: number): Promise<Line> {
  for (;;) {
    const n = Math.floor(Math.random() * NETWORKS);
    const interfaceName = `ccb${n}`;
    const [near = '', far = ''] = [1, 2].map((host) => {
      const at = n * ADDRESSES + host;
      return `198.${18 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`;
    });
    const peer = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', `${pid}`];
    const { stderr } = await run('ip', ['link', 'add', interfaceName, ...peer]).catch(
      (error: { stderr: string }) => error,
    );
    if (stderr.includes('File exists')) continue;
    if (stderr !== '') throw new Error(`ip link add: ${stderr}`);
    await run('ip', ['addr', 'add', `${near}/30`, 'dev', interfaceName]);
    await run('ip', ['link', 'set', interfaceName, 'up']);
    await inNetwork(pid, ['ip', 'addr', 'add', `${far}/30`, 'dev', 'eth0']);
    await inNetwork(pid, ['ip', 'link', 'set', 'eth0', 'up']);
    return { interfaceName, far };
  }
}

async function inNetwork(pid: number, words: readonly string[]): Promise<void> {
  await run('nsenter', ['--target', `${pid}`, '--net', ...words]);
}

/** Whether sshd greets. */
function answers(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(22, host);
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.setTimeout(500, () => socket.destroy());
  }).then((is) => is === true);
}

interface Parts {
  readonly name: string;
  readonly folder: string;
  readonly holder: ChildProcess;
  readonly pid: number;
  readonly line: Line;
  readonly api: Server;
  readonly env: Readonly<Record<string, string>>;
}

async function machineOf({ name, folder, holder, pid, line, api, env }: Parts): Promise<SshMachine> {
  const config = [
    `Host ${name}`,
    ...[`HostName ${line.far}`, 'User dev', `IdentityFile ${folder}/key`, 'IdentitiesOnly yes'],
    ...[`UserKnownHostsFile ${folder}/known_hosts`, 'GlobalKnownHostsFile /dev/null'],
    ...['StrictHostKeyChecking yes', 'BatchMode yes', 'LogLevel ERROR'],
  ];
  await writeFile(join(folder, 'ssh_config'), `${config.join('\n')}\n`);
  await writeFile(
    join(folder, 'known_hosts'),
    `${line.far} ${await readFile(join(folder, 'host_key.pub'), 'utf8')}`,
  );
  const words = Object.entries({ ...env, USER: 'dev', LOGNAME: 'dev', SHELL: '/bin/bash' });
  const inside = [
    ...['--target', `${pid}`, '--mount', '--uts', '--ipc', '--net', '--pid', '--'],
    ...['setpriv', '--reuid', `${UID}`, '--regid', `${UID}`, '--clear-groups'],
    ...['env', '-i', ...words.map(([key, value]) => `${key}=${value}`), 'sh', '-c', 'cd && exec "$@"', 'sh'],
  ];
  const { interfaceName } = line;
  const swallow = ['qdisc', 'replace', 'dev'];
  const homeDir = join(folder, 'home');
  let made = 0;
  return {
    name,
    command: ['ssh', '-F', join(folder, 'ssh_config'), name],
    machineDir: folder,
    homeDir,
    stateDir: join(homeDir, '.local', 'state', 'claude-code-bridge'),
    folder: async (prefix) => {
      const one = `${prefix}-${++made}`;
      await mkdir(join(homeDir, one));
      await chown(join(homeDir, one), UID, UID);
      return join(HOME, one);
    },
    inside: (program) => ['nsenter', ...inside, ...program],
    exec: async (program) =>
      (await run('nsenter', [...inside, ...program], { maxBuffer: MAX_OUTPUT_BYTES })).stdout,
    processes: () => processesOf(pid),
    cut: async (how) => {
      if (how === 'reset')
        return inNetwork(pid, ['ss', '-H', '-K', 'state', 'established', 'sport', '=', ':22']);
      if (how === 'link') return inNetwork(pid, ['ip', 'link', 'set', 'eth0', 'down']);
      await run('tc', [...swallow, interfaceName, 'root', 'blackhole']);
      await inNetwork(pid, ['tc', ...swallow, 'eth0', 'root', 'blackhole']);
    },
    restore: async () => {
      await inNetwork(pid, ['ip', 'link', 'set', 'eth0', 'up']);
      // An error where there is nothing to undo.
      await run('tc', ['qdisc', 'del', 'dev', interfaceName, 'root']).catch(() => undefined);
      await inNetwork(pid, ['tc', 'qdisc', 'del', 'dev', 'eth0', 'root']).catch(() => undefined);
    },
    end: () => endAll(holder, api, join(folder, '..')),
  };
}

/** Of the user there: the machine itself runs as root, but for the connections of its sshd. */
async function processesOf(pid: number): Promise<ReadonlyMap<number, string>> {
  const namespace = await readlink(`/proc/${pid}/ns/pid`);
  const { stdout } = await run('ps', ['-o', 'pid=', '-u', `${UID}`]).catch(() => ({ stdout: '' }));
  const found = new Map<number, string>();
  for (const one of stdout.split('\n').map(Number)) {
    if (one === 0 || (await readlink(`/proc/${one}/ns/pid`).catch(() => '')) !== namespace) continue;
    const words = await readFile(`/proc/${one}/cmdline`, 'utf8').catch(() => '');
    if (!words.startsWith('sshd')) found.set(one, words.replaceAll('\0', ' ').trim());
  }
  return found;
}

async function endAll(holder: ChildProcess, api: Server, folder: string): Promise<void> {
  if (holder.exitCode === null && holder.signalCode === null) {
    const exited = once(holder, 'exit');
    holder.stdin?.end();
    await exited;
  }
  api.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
