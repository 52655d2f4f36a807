import { MARK_VARIABLE } from '../../src/os/mark-variable.js';
import type { Pid } from '../../src/os/pid.js';
import { markIn, parseProcStat } from '../../src/os/proc-source.js';
import type { MarkedProcess } from '../../src/os/process-info.js';
import type { ProcessTable } from '../../src/os/process-table.js';
import type { Delivery, ProcessSystem } from '../../src/os/process-system.js';
import { parseMarkedPs } from '../../src/os/ps-source.js';
import { realPid } from '../harness/real-pid.js';

/** A process of a made system, with the numbers as a system has them: 0 where there is none. */
export interface MadeProcess {
  readonly pid: number;
  parent: number;
  readonly group: number;
  readonly session: number;
  /** Seconds since the system was started. */
  readonly start: number;
  readonly mark?: string;
  /** Behind the name of the program. */
  readonly argument?: string;
  readonly isForeign: boolean;
  /** Another user's: a signal is refused. */
  readonly isOfAnother?: boolean;
  readonly ignoresTerm?: boolean;
}

export interface MadeSystemOptions {
  readonly kind: 'proc' | 'ps';
  readonly processes: readonly MadeProcess[];
  readonly self: number;
  /** At each of these readings of the table a process of the task ends, and a foreign one gets its number. */
  readonly reuses: readonly number[];
}

const BOOT_MS = Date.UTC(2026, 10, 2, 8);

/** A machine made of data: its table is printed as the real one prints it, and read by the real readers. */
export class MadeSystem implements ProcessSystem {
  readonly source: ProcessTable;
  readonly self: Pid;
  /** Foreign processes that were signalled, and what else must not happen. */
  readonly faults: string[] = [];
  readonly sent: string[] = [];
  readonly #living = new Map<number, MadeProcess>();
  readonly #reuses: readonly number[];
  #readings = 0;
  #now: number;

  constructor({ kind, processes, self, reuses }: MadeSystemOptions) {
    for (const one of processes) this.#living.set(one.pid, { ...one });
    this.#now = Math.max(...processes.map(({ start }) => start)) + 1;
    this.#reuses = reuses;
    this.self = realPid(self);
    const table = kind === 'proc' ? () => this.#proc() : () => this.#ps();
    this.source = {
      kind,
      table: async () => this.#read(table),
      markedTable: async () => this.#read(table),
      lineage: async () => [],
      find: async (pids) => table().filter((one) => pids.includes(one.pid)),
      commandLines: async () => '',
      usage: async () => ({ cpuSeconds: 0, memoryBytes: 0 }),
    };
  }

  get living(): readonly MadeProcess[] {
    return [...this.#living.values()];
  }

  readonly send = (pid: Pid, name: NodeJS.Signals): Delivery => {
    const one = this.#living.get(pid);
    if (!(pid > 1)) this.faults.push(`${name} to ${pid}`);
    if (one === undefined) return 'gone';
    if (one.isForeign) this.faults.push(`${name} to ${JSON.stringify(one)}`);
    if (one.isOfAnother === true) return 'refused';
    this.sent.push(`${name} ${pid}`);
    if (name === 'SIGKILL' || (name === 'SIGTERM' && one.ignoresTerm !== true)) this.#end(one);
    return 'sent';
  };

  #read(table: () => MarkedProcess[]): MarkedProcess[] {
    this.#now += 1;
    if (this.#reuses.includes(this.#readings++)) this.#reuse();
    return table();
  }

  /** A process of the task ends, and its number is given to a stranger at once. */
  #reuse(): void {
    const isTaken = (pid: number): boolean =>
      this.living.some((other) => other.pid !== pid && (other.group === pid || other.session === pid));
    // No system gives away a number that is still the number of a group or a session.
    const one = this.living.find(({ pid, isForeign }) => !isForeign && !isTaken(pid));
    if (one === undefined) return;
    this.#end(one);
    const { pid } = one;
    this.#living.set(pid, { pid, parent: 1, group: pid, session: pid, start: this.#now, isForeign: true });
  }

  #end(one: MadeProcess): void {
    this.#living.delete(one.pid);
    for (const child of this.#living.values()) if (child.parent === one.pid) child.parent = 1;
  }

  #proc(): MarkedProcess[] {
    return this.living.flatMap(({ pid, parent, group, session, start, mark, isOfAnother }) => {
      const between = Array.from({ length: 15 }, () => 0).join(' ');
      const info = parseProcStat(`${pid} (p) S ${parent} ${group} ${session} ${between} ${start * 100} 0`);
      const environ = `HOME=/h\0${mark === undefined ? '' : `${MARK_VARIABLE}=${mark}\0`}`;
      return info === undefined
        ? []
        : [{ ...info, mark: isOfAnother === true ? undefined : markIn(environ) }];
    });
  }

  #ps(): MarkedProcess[] {
    return parseMarkedPs(this.#psText(false), this.#psText(true));
  }

  #psText(withEnvironment: boolean): string {
    return this.living
      .map(({ pid, parent, group, session, start, mark, argument, isOfAnother }) => {
        const state = session === pid ? 'Ss' : 'S';
        const at = new Date(BOOT_MS + start * 1_000).toUTCString();
        const [weekday = '', date = '', monthName = '', fullYear = '', clock = ''] = at
          .replace(',', '')
          .split(' ');
        const command = argument === undefined ? '/bin/p' : `/bin/p ${argument}`;
        const shown = withEnvironment && isOfAnother !== true;
        const environment = mark === undefined ? ' HOME=/h' : ` HOME=/h ${MARK_VARIABLE}=${mark}`;
        return `${pid} ${parent} ${group} ${state} ${weekday} ${monthName} ${Number(date)} ${clock} ${fullYear} ${command}${shown ? environment : ''}`;
      })
      .join('\n');
  }
}
