import { describe, expect, it } from 'vitest';
import type { Child, OutputSink, OutputStream } from '../../src/pty/child.js';
import { Collector } from './process-backend/under-test.js';

export interface ChildFacts {
  readonly isTerminal: boolean;
  /** The child has a process of this machine. */
  readonly hasPid: boolean;
}

/** Runs a text of `sh`. */
export type StartChild = (script: string, sink: OutputSink) => Promise<Child>;

/** What every child promises, whatever it runs in. */
export function describeChild(name: string, facts: ChildFacts, start: StartChild): void {
  const stream: OutputStream = facts.isTerminal ? 'terminal' : 'stdout';
  const newline = facts.isTerminal ? '\r\n' : '\n';

  describe(`a child: ${name}`, () => {
    async function started(script: string): Promise<{ child: Child; output: Collector }> {
      const output = new Collector();
      return { child: await start(script, output), output };
    }

    it('has a pid that is positive, or none', async () => {
      const { child } = await started('exit 0');
      if (facts.hasPid) expect(child.pid).toBeGreaterThan(0);
      else expect(child.pid).toBeUndefined();
      await child.closed;
    });

    it.each([0, 3, 255])('ends with the code %i, after all of its output', async (code) => {
      const { child, output } = await started(`seq 1 20000; exit ${code}`);
      expect(await child.exited).toEqual({ code });
      await child.closed;
      const lines = output.text(stream).split(newline);
      expect(lines).toHaveLength(20_001);
      expect(lines.at(-2)).toBe('20000');
    });

    it('ends with the signal that ended it', async () => {
      const { child } = await started('kill -KILL $$; sleep 60');
      expect(await child.exited).toMatchObject({ signal: 'SIGKILL' });
    });

    it('takes input while it runs, and none after', async () => {
      const { child, output } = await started('echo ready; read -r line; echo "heard $line"');
      await output.has('ready');
      expect(child.write('some words\n')).toBe('taken');
      expect(await child.flushed()).toBe(true);
      await child.closed;
      expect(output.text(stream)).toContain('heard some words');
      expect(child.write('late')).toBe('closed');
    });

    it('refuses input once megabytes of it are unread', async () => {
      const { child, output } = await started('echo ready; exec sleep 60');
      await output.has('ready');
      const piece = Buffer.alloc(1024 * 1024, 'x');
      const results = Array.from({ length: 20 }, () => child.write(piece));
      expect(results[0]).toBe('taken');
      expect(results.at(-1)).toBe('full');
      child.dispose();
      await child.exited;
    });

    it('has an end of input only on pipes', async () => {
      const { child, output } = await started('echo ready; cat; echo over');
      await output.has('ready');
      expect(child.endInput()).toBe(!facts.isTerminal);
      if (facts.isTerminal) child.write('\x04');
      else expect(child.endInput()).toBe(false);
      expect(await child.exited).toEqual({ code: 0 });
    });

    it('waits for a sink that is busy, and loses nothing', async () => {
      const output = new Collector();
      let letGo = (): void => undefined;
      const busy = new Promise<void>((resolve) => (letGo = resolve));
      const child = await start('seq 1 200000', output);
      output.hold = () => busy;
      await output.has('1');
      await new Promise((resolve) => setImmediate(resolve));
      const bytes = output.bytes;
      expect(bytes).toBeLessThan(1_000_000);
      output.hold = undefined;
      letGo();
      await child.closed;
      expect(output.text(stream).trimEnd().split(newline)).toHaveLength(200_000);
    });

    it('is resized where it has a terminal', async () => {
      const script = `trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done`;
      const { child, output } = await started(facts.isTerminal ? script : 'echo ready; read -r _');
      await output.has('ready');
      await child.resize({ columns: 132, rows: 50 });
      if (facts.isTerminal) expect(await output.has('50 132')).toContain('50 132');
      else child.endInput();
      await child.exited;
    });

    it('is ended at once when it is disposed, twice without harm', async () => {
      const { child, output } = await started(`trap '' TERM HUP; echo ready; while :; do sleep 1; done`);
      await output.has('ready');
      child.dispose();
      child.dispose();
      expect((await child.exited).signal).toBe('SIGKILL');
      await child.closed;
    });
  });
}
