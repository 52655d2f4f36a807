import { readdir, rm, stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { uptime } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../base/clock.js';
import { systemCodeOf } from '../base/errors.js';
import { readJsonFile } from '../base/files/json-file.js';
import { HEARTBEAT_MS, heartbeatFile, heartbeatFolder, heartbeatSchema } from './heartbeat.js';
import {
  ownIdentity,
  placeOf,
  processState,
  type ProcessIdentity,
  type ProcessState,
} from './process-identity.js';

/** An owner elsewhere whose file stays as it is for so long is gone. */
export const HEARTBEAT_LIMIT_MS = 120_000;
/** Then it gets this long again: a machine that slept wakes all its processes, in any order. */
export const HEARTBEAT_DOUBT_MS = 2 * HEARTBEAT_MS;
/** A process that listens accepts at once. */
const CONNECT_LIMIT_MS = 1_000;

export interface OwnerPlace {
  readonly statePath: string;
  readonly clock: Clock;
  /** Who looks; this process when left out. */
  readonly own?: ProcessIdentity;
}

/**
 * Whether the owner of something in the state directory still runs. One that runs here is known by its pid. One that runs
 * elsewhere is `gone` only when its file did not change for two and a half minutes of this process, and nobody takes a connection at its
 * socket; no clock of another process is believed. Throws STATE_UNUSABLE when its file cannot be read.
 */
export async function ownerState(
  owner: ProcessIdentity,
  { statePath, clock, own }: OwnerPlace,
): Promise<ProcessState> {
  const place = placeOf(owner, own ?? (await ownIdentity()));
  if (place === 'here') return processState(owner);
  const path = heartbeatFile(owner, statePath);
  const touchedMs = await changedMs(path);
  // Two machines may have one id, when one is a copy of the other: a sign of life since our start is not of before it.
  if (place === 'restarted' && (touchedMs ?? 0) < clock.now() - uptime() * 1000) return 'gone';
  if (!isSilent(path, touchedMs, clock.monotonicMs())) return 'unknown';
  if (touchedMs !== undefined && (await isListening(path))) return 'unknown';
  return 'gone';
}

/** Whether it has a file: a process that ended by itself has removed it. */
export async function hasHeartbeat(owner: ProcessIdentity, statePath: string): Promise<boolean> {
  return (await changedMs(heartbeatFile(owner, statePath))) !== undefined;
}

/** Removes the files of processes that are gone. Throws the system's error. */
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
  /** Monotonic time of the first look that found it so. */
  readonly sinceMs: number;
  /** Of the first look that found it so for longer than the limit. */
  doubtedMs?: number;
}

/** What this process has seen of the files of others, by their paths: a few, as many as owners run elsewhere. */
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

/** Undefined for a file that is missing. */
async function changedMs(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A socket is found in every pid namespace that shares its folder; on another machine nobody answers. */
async function isListening(path: string): Promise<boolean> {
  const read = await readJsonFile(path, heartbeatSchema);
  const socketPath = read.state === 'ok' ? read.value.socket_path : null;
  if (socketPath === null) return false;
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    const done = (isListened: boolean): void => {
      socket.destroy();
      resolve(isListened);
    };
    socket.setTimeout(CONNECT_LIMIT_MS, () => done(true));
    socket.once('connect', () => done(true));
    // EAGAIN: more wait to be accepted than the system keeps (connect(2)).
    socket.once('error', (error) => done(systemCodeOf(error) === 'EAGAIN'));
  });
}
