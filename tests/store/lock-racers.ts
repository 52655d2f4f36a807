import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { createTaskId } from '../../src/base/ids.js';
import { bundledProgram } from '../harness/bundled-program.js';

const program = bundledProgram(new URL('lock-racer.ts', import.meta.url));
const slowSteps = bundledProgram(new URL('slow-steps.ts', import.meta.url));
const wonSchema = z.array(z.object({ won: z.array(z.string()) }));

/** Processes that try for locks in one folder, all at the same time. */
export class LockRacers {
  readonly processes: readonly ChildProcess[];

  private constructor(processes: readonly ChildProcess[]) {
    this.processes = processes;
  }

  static async start(
    count: number,
    folder: string,
    { isSlow = false, table = '' }: { readonly isSlow?: boolean; readonly table?: 'ps' | '' } = {},
  ): Promise<LockRacers> {
    const execArgv = isSlow ? ['--import', slowSteps()] : [];
    const env = { ...process.env, CLAUDE_CODE_BRIDGE_PROCESS_TABLE: table };
    const processes = Array.from({ length: count }, () => fork(program(), [folder], { execArgv, env }));
    await Promise.all(processes.map((racer) => once(racer, 'message')));
    return new LockRacers(processes);
  }

  /** Every process tries for each project at once, each in an order of its own; the ids of the tasks that got one. */
  async race(projects: readonly string[]): Promise<string[]> {
    const answers = await this.#all((index) => ({
      do: 'acquire',
      tries: (index % 2 === 0 ? projects : projects.toReversed()).map((project) => ({
        project,
        task: createTaskId(Date.now()),
      })),
    }));
    return wonSchema.parse(answers).flatMap(({ won }) => won);
  }

  /** Every process adds one to the number in the file, `times` times, each in a critical section. */
  async count(file: string, times: number): Promise<void> {
    await this.#all(() => ({ do: 'count', file, times }));
  }

  async release(): Promise<void> {
    await this.#all(() => ({ do: 'release' }));
  }

  async stop(): Promise<void> {
    const running = this.processes.filter((racer) => racer.exitCode === null && racer.signalCode === null);
    const exits = running.map((racer) => once(racer, 'exit'));
    for (const racer of running) racer.kill('SIGKILL');
    await Promise.all(exits);
  }

  async #all(orderOf: (index: number) => object): Promise<unknown[]> {
    const answers = this.processes.map(async (racer): Promise<unknown> => {
      const message: unknown[] = await once(racer, 'message');
      return message[0];
    });
    for (const [index, racer] of this.processes.entries()) racer.send(orderOf(index));
    return Promise.all(answers);
  }
}
