import { describe, expect, it } from 'vitest';
import { start, type, type BackendFacts, type OpenBackend } from './under-test.js';

const LONG_LINE_BYTES = 300_000;

/** What goes in, through pipes. */
export function describeInput(_facts: BackendFacts, open: OpenBackend): void {
  describe('input', () => {
    it('hands input on in order, and its end', async () => {
      const { process, output } = await start(await open(), ['cat']);
      for (const word of ['one ', 'two ', 'three\n']) await type(process, word);
      await process.endInput();
      expect((await process.exited).code).toBe(0);
      expect(output.text('stdout')).toBe('one two three\n');
    });

    it('hands on more than a pipe holds, whole', async () => {
      const { process, output } = await start(await open(), ['cat']);
      const text = `${'x'.repeat(LONG_LINE_BYTES)}\n`;
      await type(process, text);
      await process.endInput();
      await process.exited;
      expect(output.text('stdout')).toBe(text);
    });

    it('refuses input behind the end of input', async () => {
      const { process } = await start(await open(), 'cat; sleep 60');
      await process.endInput();
      await expect(process.write(Buffer.from('more'))).rejects.toMatchObject({ code: 'INPUT_REFUSED' });
      await expect(process.endInput()).rejects.toMatchObject({ code: 'INPUT_REFUSED' });
    });

    it('does not fill the memory for a process that never reads', async () => {
      const { process } = await start(await open(), ['sleep', '60']);
      const piece = Buffer.alloc(1024 * 1024, 0x61);
      const writes = async (): Promise<void> => {
        for (let count = 0; count < 20; count++) await process.write(piece);
      };
      await expect(writes()).rejects.toMatchObject({ code: 'INPUT_REFUSED' });
    });

    it('has no terminal to resize', async () => {
      const { process } = await start(await open(), ['cat']);
      await expect(process.resize({ columns: 80, rows: 24 })).rejects.toMatchObject({ code: 'NO_TERMINAL' });
    });
  });
}
