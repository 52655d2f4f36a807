import { readdir, rm, stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { uptime } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { systemCodeOf } from '../base/errors.js';
import { readJsonFile } from '../base/files/json-file.js';
import { HEARTBEAT_MS, heartbeatFile, heartbeatFolder, heartbeatSchema } from './heartbeat.js';
import { ownIdentity, processState, type ProcessState } from './process-identity.js';
import { placeOf, type ProcessIdentity } from './process-place.js';

/** An owner elsewhere is gone when its heartbeat does not change for this long … */
export const HEARTBEAT_LIMIT_MS = 120_000;
/** … and then for this long again: a machine that slept wakes its processes in any order. */
export const HEARTBEAT_DOUBT_MS = 2 * HEARTBEAT_MS;
/** A listening process accepts within milliseconds. */
const CONNECT_LIMIT_MS = 1_000;

export interface OwnerStateOptions {
  readonly statePath: string;
  readonly clock: Clock;
  /** The process that checks; this one by default. */
  readonly own?: ProcessIdentity;
}

/**
 * Whether the owner of something in the state directory still runs. One that runs here is checked by its pid. One that runs elsewhere
 * is `gone` only when its heartbeat did not change for two and a half minutes and its socket accepts no connection; the time is
 * measured by this process, as other clocks are not trusted. Throws STATE_UNUSABLE when the heartbeat cannot be read.
 */
export async function ownerState(
  owner: ProcessIdentity,
  { statePath, clock, own }: OwnerStateOptions,
): Promise<ProcessState> {
  const place = placeOf(owner, own ?? (await ownIdentity()));
  if (place === 'here') return processState(owner);
  const path = heartbeatFile(owner, statePath);
  const touchedMs = await changedMs(path);
  // A copy of a machine has the same id, so this may be another machine: then the heartbeat is newer than our boot.
  if (place === 'restarted' && (touchedMs ?? 0) < clock.now() - uptime() * 1000) return 'gone';
  if (!isSilent(path, touchedMs, clock.monotonicMs())) return 'unknown';
  if (touchedMs !== undefined && (await isListening(path))) return 'unknown';
  return 'gone';
}

/** Whether its heartbeat file exists: a process that exits normally removes it. */
export async function hasHeartbeat(owner: ProcessIdentity, statePath: string): Promise<boolean> {
  return (await changedMs(heartbeatFile(owner, statePath))) !== undefined;
}

/** Removes the heartbeats of processes that are gone. Throws the system's error. */
export async function sweepHeartbeats(statePath: string, clock: Clock): Promise<void> {
  const folder = heartbeatFolder(statePath);
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) {
    const read = await readJsonFile(join(folder, name), heartbeatSchema);
    if (read.state !== 'ok') continue;
    if ((await ownerState(read.value.owner, { statePath, clock })) === 'gone')
      await rm(join(folder, name), { force: true });
  }
}

interface Silence {
  /** When the file was last touched; undefined while it is missing. */
  readonly touchedMs: number | undefined;
  /** Monotonic time of the first check that found this time. */
  readonly sinceMs: number;
  /** Monotonic time of the first check after the limit had passed. */
  doubtedMs?: number;
}

/** The heartbeats that this process has checked, by path: as many as owners run elsewhere, so only a few. */
const silences = new Map<string, Silence>();

function isSilent(path: string, touchedMs: number | undefined, nowMs: number): boolean {
  const silence = silences.get(path);
  if (silence === undefined || silence.touchedMs !== touchedMs) {
    silences.set(path, { touchedMs, sinceMs: nowMs });
    return false;
  }
  if (nowMs - silence.sinceMs < HEARTBEAT_LIMIT_MS) return false;
  silence.doubtedMs ??= nowMs;
  return nowMs - silence.doubtedMs >= HEARTBEAT_DOUBT_MS;
}

/** Undefined for a missing file. */
async function changedMs(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A socket works in every pid namespace that shares its folder; on another machine it does not accept. */
async function isListening(path: string): Promise<boolean> {
  const read = await readJsonFile(path, heartbeatSchema);
  const socketPath = read.state === 'ok' ? read.value.socket_path : null;
  if (socketPath === null) return false;
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    const done = (isListening: boolean): void => {
      socket.destroy();
      resolve(isListening);
    };
    socket.setTimeout(CONNECT_LIMIT_MS, () => done(true));
    socket.once('connect', () => done(true));
    // EAGAIN: the listener's backlog is full (connect(2)).
    socket.once('error', (error) => done(systemCodeOf(error) === 'EAGAIN'));
  });
}
