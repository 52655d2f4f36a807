import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemCodeOf } from '../../../src/base/errors.js';
import { realPid } from '../../harness/real-pid.js';
import { serverEntry } from '../../harness/start-bridge.js';
import type { Workplace } from '../../harness/workplace.js';
import type { FaultyServer } from './faulty-server.js';

const keeperEntry = join(dirname(serverEntry), 'keeper.js');
const HOUR_MS = 3_600_000;
/** Some stops are longer than the five seconds for which a keeper is waited for. */
const SHORT_STOP_MS = 1_500;
const LONG_STOP_MS = 7_000;
const LONG_STOP_SHARE = 0.2;

export interface FaultsOptions {
  readonly servers: readonly FaultyServer[];
  readonly workplace: Workplace;
  readonly random: () => number;
}

/** What happens to servers and keepers, by chance: SIGKILL, SIGSTOP until a while later, and clocks that jump. */
export class Faults {
  /** One line each. */
  readonly log: string[] = [];
  readonly #options: FaultsOptions;
  readonly #stopped = new Set<number>();
  readonly #ends = new Set<Promise<void>>();

  constructor(options: FaultsOptions) {
    this.#options = options;
  }

  /** One error. One that takes its time goes on beside what follows. */
  async next(): Promise<void> {
    const { servers, random } = this.#options;
    const server = servers[Math.floor(random() * servers.length)];
    const kind = random();
    if (server === undefined) return;
    if (kind < 0.15) await this.#killServer(server);
    else if (kind < 0.45) await this.#killKeeper();
    else if (kind < 0.6) this.#stop((await server.running).pid, 'server');
    else if (kind < 0.85) await this.#stopKeeper();
    else await this.#jump(server);
  }

  /** Resolves when everything that was stopped goes on. */
  async over(): Promise<void> {
    await Promise.all(this.#ends);
    for (const pid of this.#stopped) signal(pid, 'SIGCONT');
  }

  async #killServer(server: FaultyServer): Promise<void> {
    const { pid, name } = await server.running;
    this.#say(`SIGKILL to the server ${name} (${pid})`);
    signal(pid, 'SIGKILL');
    server.restart();
    await server.running;
  }

  async #killKeeper(): Promise<void> {
    const pid = await this.#anyKeeper();
    if (pid === undefined) return;
    this.#say(`SIGKILL to the keeper ${pid}`);
    signal(pid, 'SIGKILL');
  }

  async #stopKeeper(): Promise<void> {
    const pid = await this.#anyKeeper();
    if (pid !== undefined) this.#stop(pid, 'keeper');
  }

  #stop(pid: number, what: string): void {
    const { random } = this.#options;
    const ms = random() * (random() < LONG_STOP_SHARE ? LONG_STOP_MS : SHORT_STOP_MS);
    this.#say(`SIGSTOP to the ${what} ${pid} for ${Math.round(ms)} ms`);
    signal(pid, 'SIGSTOP');
    this.#stopped.add(pid);
    const end = pause(ms).then(() => {
      signal(pid, 'SIGCONT');
      this.#ends.delete(end);
    });
    this.#ends.add(end);
  }

  async #jump(server: FaultyServer): Promise<void> {
    const offsetMs = Math.round((this.#options.random() * 2 - 1) * HOUR_MS);
    this.#say(`a clock is ${offsetMs} ms off`);
    await server.setClock(offsetMs);
  }

  /** A keeper of a task, in whichever namespace. */
  async #anyKeeper(): Promise<number | undefined> {
    const { workplace, random } = this.#options;
    const keepers: number[] = [];
    for (const pid of await workplace.processes()) {
      // Not there any more when it has ended.
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (command.split('\0')[1] === keeperEntry) keepers.push(pid);
    }
    return keepers[Math.floor(random() * keepers.length)];
  }

  #say(what: string): void {
    this.log.push(`${Math.round(performance.now())} ${what}`);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(realPid(pid), name);
  } catch (error) {
    // It ended in between.
    if (systemCodeOf(error) !== 'ESRCH') throw error;
  }
}
