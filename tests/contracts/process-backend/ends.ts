import { describe, expect, it } from 'vitest';
import { Collector, run, start, type BackendFacts, type OpenBackend } from './under-test.js';

/** How a process begins and how it ends. */
export function describeEnds({ leavesBehind }: BackendFacts, open: OpenBackend): void {
  describe('beginning and end', () => {
    it('tells output and exit code of a process that ends well', async () => {
      const { exit, output, process } = await run(await open(), 'echo hello');
      expect(exit).toMatchObject({ code: 0 });
      expect(exit.signal).toBeUndefined();
      expect(exit.outOfMemory ?? false).toBe(false);
      expect(exit.reason).toBeUndefined();
      expect(output.text('stdout')).toBe('hello\n');
      expect(process.status).toBe('terminated');
    });

    it('tells exit code and stderr whole of a process that fails at once', async () => {
      const { exit, output } = await run(await open(), 'echo "no such setting: --fats" >&2; exit 3');
      expect(exit.code).toBe(3);
      expect(output.text('stderr')).toBe('no such setting: --fats\n');
      expect(output.text('stdout')).toBe('');
    });

    it('refuses a program that does not exist, and names it', async () => {
      const test = await open();
      const started = test.backend.spawn(test.spec(['no-such-program-anywhere']), new Collector());
      const message: unknown = expect.stringContaining('no-such-program-anywhere');
      await expect(started).rejects.toMatchObject({ code: 'PROGRAM_NOT_FOUND', message });
    });

    it('passes arguments on as they are; no shell reads them', async () => {
      const { process, output } = await start(await open(), [
        'sh',
        '-c',
        'printf "<%s>" "$@"',
        'x',
        '$HOME *',
        "'",
        '',
        '; ls',
      ]);
      await process.exited;
      expect(output.text('stdout')).toBe("<$HOME *><'><><; ls>");
    });

    it('passes the environment on', async () => {
      const { output } = await run(await open(), 'echo "$GREETING"', { env: { GREETING: 'good "day" $x' } });
      expect(output.text('stdout')).toBe('good "day" $x\n');
    });

    it('ends when all that it started has ended, with every byte of theirs', async () => {
      const { exit, output } = await run(await open(), '(sleep 0.2; echo late) & echo soon; wait');
      expect(exit.code).toBe(0);
      expect(output.text('stdout')).toBe('soon\nlate\n');
    });

    if (leavesBehind) {
      it('does not wait for a process that was left behind and holds its output; says so', async () => {
        const { exit, output, process } = await run(await open(), 'sleep 60 & echo begun');
        expect(output.text('stdout')).toBe('begun\n');
        expect(exit.code).toBe(0);
        expect(exit.reason).toContain('left behind');
        expect(await process.kill('SIGKILL')).toBe(0);
        await expect(process.kill('SIGKILL')).rejects.toMatchObject({ code: 'PROCESS_NOT_RUNNING' });
      });

      it('ends what went away into a session of its own', async () => {
        const { process, output } = await run(
          await open(),
          'setsid sh -c "sleep 60 >/dev/null 2>&1 &" ; echo done',
        );
        expect(output.text('stdout')).toBe('done\n');
        expect(await process.kill('SIGTERM')).toBe(0);
      });
    }

    it('ends everything that runs when it is disposed', async () => {
      const test = await open({ alone: true });
      const { process, output } = await start(test, 'trap "" TERM; echo up; while :; do sleep 0.05; done');
      await output.has('up');
      await test.backend.dispose();
      expect((await process.exited).code).toBeUndefined();
      expect(process.status).toBe('terminated');
    });
  });
}
