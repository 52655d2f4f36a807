import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pidOf } from '../os/pid.js';
import type { ExitStatus } from './exit-status.js';
import type { PipedProgram, PipedSpawnOptions } from './piped-program.js';

/** Starts a program of this machine on pipes. Throws what the system says. */
export async function spawnPiped({ command, cwd, env }: PipedSpawnOptions): Promise<PipedProgram> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: { ...env },
    // A process group of its own: signals to ours do not reach it, and the whole group can be ended.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // Without a listener a broken pipe would be an uncaught exception; the exit that follows says what happened.
  child.stdin.on('error', () => {});
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await once(child, 'spawn');
  // After the start only a failed signal is told here, and the kill ladder sees that for itself.
  child.on('error', () => {});
  const { stdin, stdout, stderr } = child;
  return { pid: pidOf(child.pid), stdin, stdout, stderr, exited, closed };
}
