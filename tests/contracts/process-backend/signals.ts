import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  start,
  type BackendFacts,
  type BackendUnderTest,
  type OpenBackend,
  type Started,
} from './under-test.js';

const TRAPPED: readonly NodeJS.Signals[] = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGTERM',
  'SIGCONT',
  'SIGWINCH',
  'SIGURG',
];
const FATAL: readonly NodeJS.Signals[] = ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGKILL', 'SIGUSR1', 'SIGABRT'];

/** Says `up` when it has set up what it does on signals. */
function shell(test: BackendUnderTest, setUp: string, tty = false): Promise<Started> {
  const script = `${setUp}\necho up\nwhile :; do sleep 0.02; done`;
  return start(test, script, tty ? { tty: { columns: 80, rows: 24 } } : {});
}

/** Signals, to all of a tree. */
export function describeSignals(_facts: BackendFacts, open: OpenBackend): void {
  describe('signals', () => {
    it('delivers ten signals', async () => {
      const traps = TRAPPED.map((name) => `trap 'echo got ${name}' ${name.slice(3)}`).join('; ');
      const { process, output } = await shell(await open(), traps);
      await output.has('up');
      for (const name of TRAPPED) {
        await process.signal(name);
        await output.has(`got ${name}\n`);
      }
      expect(process.status).toBe('running');
    });

    it.each(FATAL)('ends by %s, and tells it', async (name) => {
      const { process, output } = await start(await open(), 'echo up; exec sleep 60');
      await output.has('up');
      await process.signal(name);
      const exit = await process.exited;
      // A shell between the two can tell it as 128 and the number only.
      if (exit.signal === undefined) expect(exit.code).toBe(128 + constants.signals[name]);
      else expect(exit).toMatchObject({ signal: name });
    });

    it('signals a program in a terminal, not what surrounds it', async () => {
      const { process, output } = await shell(await open(), "trap 'echo got it' USR1", true);
      await output.has('up');
      await process.signal('SIGUSR1');
      await output.has('got it');
      expect(process.status).toBe('running');
    });

    it('signals every process of the tree', async () => {
      const child = `sh -c 'trap "echo child got it" USR1; echo child up; while :; do sleep 0.02; done'`;
      const { process, output } = await shell(await open(), `trap 'echo parent got it' USR1; ${child} &`);
      await output.has('child up');
      await output.has(/^up$/m);
      await process.signal('SIGUSR1');
      await output.has('child got it');
      await output.has('parent got it');
      expect(process.status).toBe('running');
    });
  });

  describe('the kill ladder', () => {
    it('ends a process that obeys, by the signal that was asked for', async () => {
      const { process, output } = await shell(await open(), "trap 'echo bye; exit 0' INT");
      await output.has('up');
      expect(await process.kill('SIGINT')).toBe(0);
      expect((await process.exited).code).toBe(0);
      expect(output.text('stdout')).toContain('bye');
    });

    it('ends a process that obeys nothing', async () => {
      const { process, output } = await shell(await open(), "trap '' INT TERM HUP QUIT");
      await output.has('up');
      expect(await process.kill('SIGKILL')).toBe(0);
      const exit = await process.exited;
      expect(exit.signal ?? exit.code).toBe(exit.signal === undefined ? 137 : 'SIGKILL');
    });

    it('ends the whole tree', async () => {
      const { process, output } = await shell(await open(), 'sh -c "sleep 60 & sleep 60" & sleep 60 &');
      await output.has('up');
      expect(await process.kill('SIGTERM')).toBe(0);
      await expect(process.stats()).rejects.toMatchObject({ code: 'PROCESS_NOT_RUNNING' });
    });

    it('ends a process that is stopped', async () => {
      const { process, output } = await shell(await open(), ':');
      await output.has('up');
      await process.signal('SIGSTOP');
      expect(await process.kill('SIGTERM')).toBe(0);
    });
  });
}
