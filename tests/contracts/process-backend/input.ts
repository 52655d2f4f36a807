import { describe, expect, it } from 'vitest';
import { start, type, valueOf, type BackendFacts, type OpenBackend } from './under-test.js';

const LONG_LINE_BYTES = 300_000;

/** What goes in, through pipes. */
export function describeInput(_facts: BackendFacts, open: OpenBackend): void {
  describe('input', () => {
    it('hands input on in order, and its end', async () => {
      const { process, output } = await start(await open(), ['cat']);
      for (const word of ['one ', 'two ', 'three\n']) await type(process, word);
      valueOf(await process.endInput());
      expect((await process.exited).code).toBe(0);
      expect(output.text('stdout')).toBe('one two three\n');
    });

    it('talks to a program line by line', async () => {
      const { process, output } = await start(await open(), [
        'sh',
        '-c',
        'while read -r line; do echo "heard: $line"; done; echo over',
      ]);
      await type(process, 'first\n');
      await output.has('heard: first\n');
      await type(process, 'second\n');
      await output.has('heard: second\n');
      valueOf(await process.endInput());
      await process.exited;
      expect(output.text('stdout')).toBe('heard: first\nheard: second\nover\n');
    });

    it('hands on more than a pipe holds, whole', async () => {
      const { process, output } = await start(await open(), ['cat']);
      const text = `${'x'.repeat(LONG_LINE_BYTES)}\n`;
      await type(process, text);
      valueOf(await process.endInput());
      await process.exited;
      expect(output.text('stdout')).toBe(text);
    });

    it('hands on every byte value', async () => {
      const { process, output } = await start(await open(), ['cat']);
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
      valueOf(await process.write(bytes));
      valueOf(await process.endInput());
      await process.exited;
      expect(output.raw('stdout')).toEqual(bytes);
    });

    it('refuses input behind the end of input', async () => {
      const { process } = await start(await open(), ['sh', '-c', 'cat; sleep 60']);
      valueOf(await process.endInput());
      expect(await process.write(Buffer.from('more'))).toMatchObject({ fault: { code: 'INPUT_CLOSED' } });
      expect(await process.endInput()).toMatchObject({ fault: { code: 'INPUT_CLOSED' } });
    });

    it('refuses input of a process that has ended', async () => {
      const { process } = await start(await open(), ['sh', '-c', 'exit 0']);
      await process.exited;
      expect(await process.write(Buffer.from('late'))).toMatchObject({ fault: { code: 'NOT_RUNNING' } });
    });

    it('does not fill the memory for a process that never reads', async () => {
      const { process } = await start(await open(), ['sleep', '60']);
      const piece = Buffer.alloc(1024 * 1024, 0x61);
      let answer = await process.write(piece);
      for (let count = 1; answer.ok && count < 20; count++) answer = await process.write(piece);
      expect(answer).toMatchObject({ fault: { code: 'INPUT_FULL' } });
    });

    it('has no terminal to resize', async () => {
      const { process } = await start(await open(), ['cat']);
      expect(await process.resize({ columns: 80, rows: 24 })).toMatchObject({
        fault: { code: 'NO_TERMINAL' },
      });
    });
  });
}
