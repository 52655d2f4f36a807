import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { ancestorsOf } from './choose-processes.js';
import { MARK_VARIABLE } from './mark-variable.js';
import { pidOf } from './pid.js';
import type { MarkedProcess, ProcessInfo } from './process-info.js';
import type { ProcessTable, ProcessUsage } from './process-table.js';

/** `ps` takes well under a second; a stuck one must not delay a kill. */
const PS_LIMIT_MS = 5_000;
const PS_MAX_BYTES = 64 * 1024 * 1024;
const KIB = 1_024;
const COLUMNS = 'pid=,ppid=,pgid=,stat=,lstart=,command=';
/** All processes, with unlimited width. ENVIRONMENT shows the environment after the command line. */
const ALL = ['-A', '-ww'];
const ENVIRONMENT = process.platform === 'darwin' ? '-E' : 'e';

/**
 * The process table of `ps`, on macOS and with procps. The column `sess` is not used, since macOS shows 0 for every process; the
 * column `stat` shows which process leads a session, which is enough.
 */
export const psSource: ProcessTable = {
  kind: 'ps',
  table: async () => parsePs(await ps([...ALL, '-o', COLUMNS])),
  markedTable: async () => {
    const [plain, withEnvironment] = await Promise.all([
      ps([...ALL, '-o', COLUMNS]),
      ps([...ALL, ENVIRONMENT, '-o', COLUMNS]),
    ]);
    return parseMarkedPs(plain, withEnvironment);
  },
  lineage: async (pid) => {
    const all = await psSource.markedTable();
    return [...ancestorsOf(all, pid)].flatMap((one) => all.find((other) => other.pid === one) ?? []);
  },
  find: async (pids) =>
    pids.length === 0 ? [] : parsePs(await ps(['-ww', '-o', COLUMNS, '-p', pids.join()])),
  commandLines: () => ps([...ALL, '-o', 'command=']),
  usage: async (pids) =>
    usageInPs(pids.length === 0 ? '' : await ps(['-o', 'rss=,time=', '-p', pids.join()])),
};

/** Runs in locale C and UTC, so that the same start is always the same text. Returns '' when none of the requested pids lives. */
function ps(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      '/bin/ps',
      [...args],
      { env: { LC_ALL: 'C', TZ: 'UTC' }, timeout: PS_LIMIT_MS, maxBuffer: PS_MAX_BYTES },
      (error, stdout, stderr) => {
        // `ps` exits with 1 and prints no error when it has nothing to list.
        if (error === null || (error.code === 1 && stderr === '')) resolve(stdout);
        else reject(new Error(`ps failed: ${error.message}`, { cause: error }));
      },
    );
  });
}

const PS_LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/;
const PS_MARK = new RegExp(` ${MARK_VARIABLE}=([^ ]+) `);

interface PsLine {
  readonly info: ProcessInfo;
  readonly command: string;
}

/** The living processes in the output of `ps -o pid=,ppid=,pgid=,stat=,lstart=,command=`. */
export function parsePs(output: string): ProcessInfo[] {
  return psLines(output).map(({ info }) => info);
}

/**
 * The same with marks, from two outputs: without and with the environment after the command line. The environment is what the
 * second one adds, so a mark in a command line does not count. macOS hides the environment of programs under system protection.
 */
export function parseMarkedPs(plain: string, withEnvironment: string): MarkedProcess[] {
  const commands = new Map(psLines(plain).map(({ info, command }) => [keyOf(info), command]));
  return psLines(withEnvironment).map(({ info, command }) => {
    const own = commands.get(keyOf(info));
    const environment = own !== undefined && command.startsWith(own) ? command.slice(own.length) : '';
    return { ...info, mark: PS_MARK.exec(` ${environment} `)?.[1] };
  });
}

function keyOf({ pid, startId }: ProcessInfo): string {
  return `${pid} ${startId}`;
}

function psLines(output: string): PsLine[] {
  return output.split('\n').flatMap((line) => {
    const [, number, parentPid, group, state = 'Z', started = '', command] = PS_LINE.exec(line) ?? [];
    const pid = pidOf(number);
    if (pid === undefined || command === undefined || state.startsWith('Z')) return [];
    const info = {
      pid,
      parentPid: pidOf(parentPid),
      group: pidOf(group),
      session: state.includes('s') ? pid : undefined,
      startId: started.replace(/\s+/g, ' '),
      name: basename(command.split(' ', 1)[0] ?? ''),
    };
    return [{ info, command }];
  });
}

/** Parses the output of `ps -o rss=,time=`, where the time is `[[dd-]hh:]mm:ss[.ss]`. */
export function usageInPs(output: string): ProcessUsage {
  let cpuSeconds = 0;
  let memoryBytes = 0;
  for (const line of output.split('\n')) {
    const [, rss, days, time = ''] = /^\s*(\d+)\s+(?:(\d+)-)?([\d:.]+)\s*$/.exec(line) ?? [];
    if (rss === undefined) continue;
    memoryBytes += Number(rss) * KIB;
    cpuSeconds += time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
    cpuSeconds += Number(days ?? 0) * 24 * 3_600;
  }
  return { cpuSeconds, memoryBytes };
}
