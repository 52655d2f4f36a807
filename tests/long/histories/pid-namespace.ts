import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { until } from '../../harness/until.js';

export const NEW_NAMESPACE = ['--pid', '--fork', '--kill-child', '--mount-proc'];

/** Namespaces are root's to make, and in some containers they are refused to it, too. */
export const canMakeNamespaces =
  spawnSync('unshare', [...NEW_NAMESPACE, 'true']).status === 0 &&
  spawnSync('nsenter', ['--version']).status === 0;

/** The first process of the namespace takes in those whose parents ended. */
const FIRST_PROCESS = 'echo ready; while :; do sleep 600 & wait; done';
/** `nsenter` itself stays outside and has its child inside: one that is stopped does not stop it, too. */
const ENTER = 'exec 3<&0; "$@" <&3 3<&- & exec 3<&-; wait $!';

/** A pid namespace with a `/proc` of its own, in which any number of processes are started. */
export interface PidNamespace {
  /** A command that runs `command` inside, as the one child of what is started. */
  command(command: readonly string[]): readonly [string, ...string[]];
  /** Ends everything that runs inside. */
  end(): Promise<void>;
}

export async function makePidNamespace(): Promise<PidNamespace> {
  const holder = spawn('unshare', [...NEW_NAMESPACE, 'sh', '-c', FIRST_PROCESS], {
    cwd: '/',
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(holder.stdout, 'data');
  const first = await onlyChild(holder.pid ?? 0);
  return {
    command: (command) => [
      'nsenter',
      ...['--target', `${first}`, '--pid', '--mount', '--no-fork'],
      ...['sh', '-c', ENTER, 'sh', ...command],
    ],
    end: async () => {
      if (holder.exitCode !== null || holder.signalCode !== null) return;
      const exited = once(holder, 'exit');
      holder.kill('SIGKILL');
      await exited;
    },
  };
}

/** The pid of the one child that a process has, or will have in a moment. */
export function onlyChild(pid: number): Promise<number> {
  return until(`${pid} has one child`, async () => {
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1')).trim().split(' ');
    return children.length === 1 && Number(children[0]) > 0 && Number(children[0]);
  });
}
