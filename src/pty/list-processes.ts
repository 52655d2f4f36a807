import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { KernelFiles } from '../base/kernel-files.js';
import { MARK_VARIABLE } from './child-env.js';

export interface ProcessInfo {
  readonly pid: number;
  readonly parentPid: number;
  /** Process group and session; 0 where the system does not tell. */
  readonly group: number;
  readonly session: number;
  /** Differs for two processes that had the same pid one after the other. */
  readonly startId: string;
  /** The name of the program, for reports. */
  readonly name: string;
}

/** With the mark in its environment, as far as that may be read; undefined for one without. */
export interface MarkedProcess extends ProcessInfo {
  readonly mark: string | undefined;
}

export interface ListedProcess extends ProcessInfo {
  /** Its environment, as far as it may be read, holds the mark that was asked for. */
  readonly isMarked: boolean;
}

/** `kthreadd`: its children are the kernel's own threads, which have no environment. */
const KERNEL_THREAD_DAEMON = 2;
/** `ps` is done in well under a second; a stuck one must not hold up a kill. */
const PS_LIMIT_MS = 5000;
const PS_MAX_BYTES = 64 * 1024 * 1024;

export interface ProcessQuery {
  readonly mark: string;
  /**
   * Start time, as in `startId`, before which no process can carry the mark: that of whoever made the mark. Saves reading
   * the environment of everything that ran before. Not used where the system has no comparable start times.
   */
  readonly startedSince?: string | undefined;
}

/** All processes that live (zombies do not), each with whether it carries the mark. */
export async function listProcesses(query: ProcessQuery): Promise<ListedProcess[]> {
  return process.platform === 'linux' ? listFromProc(query) : listFromPs(query.mark);
}

/** All processes that live, for whoever looks for several marks at once. See ProcessQuery for `startedSince`. */
export async function listAllMarked({ startedSince }: Omit<ProcessQuery, 'mark'> = {}): Promise<
  MarkedProcess[]
> {
  if (process.platform !== 'linux') return parsePsMarks(await psOutput());
  return readProc(startedSince, markOf).map(({ info, found }) => ({ ...info, mark: found }));
}

/**
 * Read at once, not file by file through the thread pool: /proc lies in memory, a hundred processes take 2 ms this way and
 * 15 to 40 the other, and whoever waits for a task's end waits for this.
 */
function listFromProc({ mark, startedSince }: ProcessQuery): ListedProcess[] {
  return readProc(startedSince, (environment) => carriesMark(environment, mark)).map(({ info, found }) => ({
    ...info,
    isMarked: found ?? false,
  }));
}

/** Every process, with what `look` finds in its environment; that of processes which began earlier is not read. */
function readProc<T>(
  startedSince: string | undefined,
  look: (environment: string) => T,
): { readonly info: ProcessInfo; readonly found: T | undefined }[] {
  const since = Number(startedSince ?? 0);
  const files = new KernelFiles();
  return readdirSync('/proc').flatMap((name) => {
    if (!/^[0-9]+$/.test(name)) return [];
    const info = readStat(files, name);
    if (info === undefined) return [];
    const mayCarry = Number(info.startId) >= since && info.parentPid !== KERNEL_THREAD_DAEMON;
    const environment = mayCarry ? readEnvironment(files, name) : undefined;
    return [{ info, found: environment === undefined ? undefined : look(environment) }];
  });
}

/** Undefined for a process that ended between the listing and the look. */
function readStat(files: KernelFiles, pid: string): ProcessInfo | undefined {
  try {
    return parseProcStat(files.read(`/proc/${pid}/stat`));
  } catch {
    return undefined;
  }
}

function readEnvironment(files: KernelFiles, pid: string): string | undefined {
  try {
    return files.read(`/proc/${pid}/environ`);
  } catch {
    // Gone meanwhile, or another user's: not one that the bridge started, or one that it could not signal anyhow.
    return undefined;
  }
}

function carriesMark(environment: string, mark: string): boolean {
  return `\0${environment}`.includes(`\0${MARK_VARIABLE}=${mark}\0`);
}

function markOf(environment: string): string | undefined {
  const text = `\0${environment}`;
  const at = text.indexOf(`\0${MARK_VARIABLE}=`);
  if (at === -1) return undefined;
  const from = at + MARK_VARIABLE.length + 2;
  return text.slice(from, text.indexOf('\0', from));
}

/** The identity in a text of /proc/<pid>/stat, or undefined for a zombie. The name may hold spaces and parentheses. */
export function parseProcStat(text: string): ProcessInfo | undefined {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  // From field 3 on: state, ppid, pgrp, session, …, starttime as field 22.
  const fields = text.slice(close + 2).split(' ');
  const [state = 'X', parentPid = '0', group = '0', session = '0'] = fields;
  const startId = fields[19];
  if (state === 'Z' || state === 'X' || state === 'x' || startId === undefined) return undefined;
  return {
    pid: Number(text.slice(0, open - 1)),
    parentPid: Number(parentPid),
    group: Number(group),
    session: Number(session),
    startId,
    name: text.slice(open + 1, close),
  };
}

/**
 * Without /proc: `ps` shows the environment of the user's own processes behind the command, but (macOS) not of programs
 * under system protection; those are found by their group and their parents only.
 */
async function listFromPs(mark: string): Promise<ListedProcess[]> {
  return parsePs(await psOutput(), mark);
}

async function psOutput(): Promise<string> {
  const { stdout } = await promisify(execFile)(
    'ps',
    ['-A', '-E', '-ww', '-o', 'pid=,ppid=,pgid=,stat=,lstart=,command='],
    { env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' }, timeout: PS_LIMIT_MS, maxBuffer: PS_MAX_BYTES },
  );
  return stdout;
}

const PS_LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/;
const PS_MARK = new RegExp(` ${MARK_VARIABLE}=([^ ]+) `);

/** The processes in the output of `ps -o pid=,ppid=,pgid=,stat=,lstart=,command=`. */
export function parsePs(output: string, mark: string): ListedProcess[] {
  return psLines(output).map(({ info, command }) => ({
    ...info,
    isMarked: ` ${command} `.includes(` ${MARK_VARIABLE}=${mark} `),
  }));
}

/** The same, each with the mark that it carries. */
export function parsePsMarks(output: string): MarkedProcess[] {
  return psLines(output).map(({ info, command }) => ({ ...info, mark: PS_MARK.exec(` ${command} `)?.[1] }));
}

function psLines(output: string): { readonly info: ProcessInfo; readonly command: string }[] {
  return output.split('\n').flatMap((line) => {
    const [, pid, parentPid, group, state, startId, command] = PS_LINE.exec(line) ?? [];
    if (command === undefined || startId === undefined || state?.startsWith('Z') !== false) return [];
    const info = {
      pid: Number(pid),
      parentPid: Number(parentPid),
      group: Number(group),
      session: 0,
      startId,
      name: command.split(' ', 1)[0] ?? '',
    };
    return [{ info, command }];
  });
}
