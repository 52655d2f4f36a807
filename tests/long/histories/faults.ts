import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemCodeOf } from '../../../src/base/errors.js';
import { commandOf } from '../../harness/marked-processes.js';
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
    else if (kind < 0.45) await this.#toKeeper((pid) => this.#kill(pid, 'keeper'));
    else if (kind < 0.6) this.#stop((await server.running).pid, 'server');
    else if (kind < 0.85) await this.#toKeeper((pid) => this.#stop(pid, 'keeper'));
    else await this.#jump(server);
  }

  /** Resolves when everything that was stopped goes on. */
  async over(): Promise<void> {
    await Promise.all(this.#ends);
    for (const pid of this.#stopped) signal(pid, 'SIGCONT');
  }

  async #killServer(server: FaultyServer): Promise<void> {
    const { pid, name } = await server.running;
    this.#kill(pid, `server ${name}`);
    server.restart();
    await server.running;
  }

  #kill(pid: number, what: string): void {
    this.#say(`SIGKILL to the ${what} (${pid})`);
    signal(pid, 'SIGKILL');
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

  /** Does something to a keeper of a task, in whichever namespace. */
  async #toKeeper(act: (pid: number) => void): Promise<void> {
    const { workplace, random } = this.#options;
    const keepers: number[] = [];
    for (const pid of await workplace.processes()) {
      if ((await commandOf(pid)).split(' ')[1] === keeperEntry) keepers.push(pid);
    }
    const keeper = keepers[Math.floor(random() * keepers.length)];
    if (keeper !== undefined) act(keeper);
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
