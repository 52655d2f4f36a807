import { expect, it, vi } from 'vitest';
import { Emulator } from '../../src/screen/emulator.js';

it.each(['\x1b[1J', '\x1b[01J', '\x1b[1;2J', '\x1b[?1J'])(
  'erasing above the last column of the last row does not crash: %j',
  async (erase) => {
    for (const before of ['', '\x1b[?1049h', 'line\r\n'.repeat(100)]) {
      const emulator = new Emulator({ columns: 80, rows: 24, scrollback: 10, reply: () => undefined });
      await new Promise<void>((resolve) =>
        emulator.terminal.write(`${before}\x1b[999;999Hx${erase}\x1b[Hon`, resolve),
      );
      expect(
        emulator.terminal.buffer.active.getLine(emulator.terminal.buffer.active.baseY)?.translateToString(),
      ).toMatch(/^on/);
      emulator.dispose();
    }
  },
);

it('says nothing on stderr of bytes that are no sequence of a terminal', async () => {
  const error = vi.spyOn(console, 'error');
  const emulator = new Emulator({ columns: 80, rows: 24, scrollback: 10, reply: () => undefined });
  const bytes = Uint8Array.from({ length: 60_000 }, (_, at) => (at * 7_919 + (at >> 3)) % 256);
  await new Promise<void>((resolve) => emulator.terminal.write(bytes, resolve));
  expect(error).not.toHaveBeenCalled();
  emulator.dispose();
  error.mockRestore();
});
