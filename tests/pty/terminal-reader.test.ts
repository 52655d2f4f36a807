import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { sleep, systemClock } from '../../src/base/clock.js';
import { processSource } from '../../src/os/process-source.js';
import { isRawPty, loadNodePty } from '../../src/pty/load-node-pty.js';
import { PtyManager } from '../../src/pty/pty-manager.js';
import type { PtySession } from '../../src/pty/pty-session.js';
import { TerminalReader } from '../../src/pty/terminal-reader.js';
import { ManualClock } from '../harness/manual-clock.js';
import { realPid } from '../harness/real-pid.js';

const env = { PATH: '/usr/local/bin:/usr/bin:/bin' };
/** 26 MB on a terminal: three times what makes a flood. */
const LINES = 3_000_000;
const FLOOD_BYTES = 25_888_896;
const FLOOD = `seq ${LINES}`;
/** Whoever sends a line ends it. */
const FLOOD_THEN_WAIT = `stty -echo; ${FLOOD}; read -r _`;
const LONG_FLOOD = 'exec seq 1000000000';
const PATIENCE = { timeout: 20_000, interval: 5 };
const NOTICE = /\r\n\[claude-code-bridge: the process that read this terminal was ended; [^\]]*\]\r\n/g;
const hasPerl = process.platform === 'linux' && existsSync('/usr/bin/perl');

describe.runIf(hasPerl)('a terminal that is flooded', () => {
  let manager: PtyManager | undefined;
  // Time stands still: so a flood is one on the slowest machine, and none is over by itself.
  const start = async (text: string, clock = new ManualClock()) => {
    manager = new PtyManager({ clock });
    const command = ['/bin/sh', '-c', text];
    return manager.spawn({ command, cwd: '/', env, columns: 80, rows: 24, shell: '/bin/sh' });
  };

  afterEach(async () => {
    manager?.dispose();
    await manager?.whenClosed();
    expect(await relaysOf(process.pid)).toEqual([]);
  });

  it('is read by a process of its own, whole and in order', async () => {
    const session = await start(FLOOD_THEN_WAIT);
    const seen = new Lines(session);
    await vi.waitUntil(() => seen.lines === LINES, PATIENCE);
    const relays = await relaysOf(process.pid);
    expect(relays).toHaveLength(1);
    session.write('\r');
    expect(await session.exited).toEqual({ exitCode: 0, signal: null });
    expect(seen.outcome).toEqual({ lines: LINES, wrong: '' });
    await manager?.whenClosed();
    expect(relays.map(isAlive)).toEqual([false]);
  });

  it('comes whole when its reader stops again and again', async () => {
    const session = await start(FLOOD_THEN_WAIT);
    const seen = new Lines(session);
    let pieces = 0;
    session.onData(() => {
      if (++pieces % 7 !== 0) return;
      session.pause();
      setImmediate(() => session.resume());
    });
    await vi.waitUntil(() => seen.lines === LINES, PATIENCE);
    expect(await relaysOf(process.pid)).toHaveLength(1);
    session.write('\r');
    await session.exited;
    expect(seen.outcome).toEqual({ lines: LINES, wrong: '' });
  });

  it('is read no further while its reader stops, and then where it stopped', async () => {
    const session = await start(LONG_FLOOD);
    const seen = new Lines(session);
    await vi.waitUntil(() => someRelays(), PATIENCE);
    session.pause();
    const stoppedAt = seen.lines;
    // Time enough for a million lines.
    await sleep(systemClock, 300);
    expect(seen.lines).toBe(stoppedAt);
    session.resume();
    await vi.waitUntil(() => seen.lines > stoppedAt + LINES, PATIENCE);
    expect(seen.wrong).toBe('');
  });

  it('takes input meanwhile, and is read as before when the flood is over', async () => {
    const clock = new ManualClock();
    const session = await start(`${FLOOD}; printf ready; read -r word; ${FLOOD}; echo "$word"`, clock);
    const seen = new Lines(session);
    await vi.waitUntil(() => seen.tail.endsWith('ready'), PATIENCE);
    const relays = await relaysOf(process.pid);
    expect(relays).toHaveLength(1);
    clock.advance(10_000);
    await vi.waitUntil(() => !relays.some(isAlive), PATIENCE);
    session.write('again\r');
    await session.exited;
    expect(seen.tail).toMatch(/\r\n3000000\r\nagain\r\n$/);
    expect(seen.lines).toBe(2 * LINES + 2);
  });

  it('says that output may be missing when that process was ended, and is read on', async () => {
    const session = await start(LONG_FLOOD);
    const seen = new Lines(session);
    for (const pid of await vi.waitUntil(() => someRelays(), PATIENCE)) process.kill(pid, 'SIGKILL');
    await vi.waitUntil(() => seen.notices === 1, PATIENCE);
    const toldAt = seen.lines;
    await vi.waitUntil(() => seen.lines > toldAt + LINES, PATIENCE);
    expect([seen.notices, await relaysOf(process.pid)]).toEqual([1, []]);
    session.write('\x03');
    expect(await session.exited).toEqual({ exitCode: null, signal: 'SIGINT' });
  });

  it('tells its end when its first process was killed in the middle', async () => {
    const session = await start(LONG_FLOOD);
    const seen = new Lines(session);
    await vi.waitUntil(() => someRelays(), PATIENCE);
    process.kill(realPid(session.pid), 'SIGKILL');
    expect(await session.exited).toEqual({ exitCode: null, signal: 'SIGKILL' });
    expect(seen.wrong).toBe('');
  });

  it('ends with its reader, also while nothing is printed', async () => {
    const program = fileURLToPath(new URL('flood-reader-process.ts', import.meta.url));
    const args = ['--import', 'tsx', program, `${FLOOD}; sleep 600`];
    const reader = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const exit = once(reader, 'exit');
    onTestFinished(async () => {
      reader.kill('SIGKILL');
      await exit;
    });
    await once(reader.stdout, 'data');
    const children = (await processSource.table()).filter(({ parentPid }) => parentPid === reader.pid);
    expect(await relaysOf(reader.pid)).toHaveLength(1);
    reader.kill('SIGKILL');
    await exit;
    await vi.waitUntil(() => !children.some(({ pid }) => isAlive(pid)), PATIENCE);
  });
});

it('a flood comes whole where there is no Perl', async () => {
  const pty = (await loadNodePty()).spawn('/bin/sh', ['-c', `${FLOOD}; printf end; sleep 600`], {
    name: 'xterm-256color',
    cols: 80,
    rows: 24,
    cwd: '/',
    env,
    encoding: null,
  });
  if (!isRawPty(pty)) throw new Error('node-pty gave something else');
  let bytes = 0;
  let tail = '';
  const reader = new TerminalReader({
    pty,
    clock: new ManualClock(),
    relayProgram: '/nowhere/perl',
    take: (data) => {
      bytes += data.length;
      tail = data.toString('latin1').slice(-3);
    },
  });
  await vi.waitUntil(() => tail === 'end', PATIENCE);
  expect(bytes).toBe(FLOOD_BYTES + 'end'.length);
  reader.dispose();
  const closed = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  process.kill(-Number(pty.pid), 'SIGKILL');
  await closed;
});

/** Counts the lines of a session, and finds the first that is not the number of its place. */
class Lines {
  lines = 0;
  wrong = '';
  notices = 0;
  tail = '';
  #open = '';

  constructor(session: PtySession) {
    session.onData((data) => this.#read(data.toString('latin1')));
  }

  get outcome() {
    return { lines: this.lines, wrong: this.wrong };
  }

  #read(piece: string): void {
    this.notices += piece.match(NOTICE)?.length ?? 0;
    this.tail = `${this.tail}${piece}`.slice(-100);
    const text = this.#open + piece;
    const end = text.lastIndexOf('\n') + 1;
    for (const line of text.slice(0, end).split('\r\n').slice(0, -1)) {
      this.lines++;
      if (line !== String(this.lines)) this.wrong ||= `${line} came instead of ${this.lines}`;
    }
    this.#open = text.slice(end);
  }
}

async function someRelays(): Promise<number[] | undefined> {
  const relays = await relaysOf(process.pid);
  return relays.length > 0 ? relays : undefined;
}

/** The processes that read terminals for the process with this number. */
async function relaysOf(parent: number | undefined): Promise<number[]> {
  const children = (await processSource.table()).filter(({ parentPid }) => parentPid === parent);
  return children
    .map(({ pid }) => pid)
    .filter((pid) => commandOf(pid).startsWith('claude-code-bridge-terminal-reader'));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}

/** A process that has ended and is not yet reaped has no command. */
function isAlive(pid: number): boolean {
  return commandOf(pid) !== '';
}
