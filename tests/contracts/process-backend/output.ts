import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { run, start, type, type BackendFacts, type OpenBackend } from './under-test.js';

const FLOOD_LINES = 200_000;
/** Of a line of `seq -w 1 200000`: six digits and a newline. */
const LINE_BYTES = 7;
const HELD_MS = 50;

/** What comes out: whole, in order, apart, and no faster than it is taken. */
export function describeOutput(_facts: BackendFacts, open: OpenBackend): void {
  describe('output', () => {
    it('keeps stdout and stderr apart', async () => {
      const { output } = await run(await open(), 'echo a; echo b >&2; echo c; echo d >&2');
      expect(output.text('stdout')).toBe('a\nc\n');
      expect(output.text('stderr')).toBe('b\nd\n');
      expect(output.text('terminal')).toBe('');
    });

    it('hands on output as it comes', async () => {
      const { process, output } = await start(await open(), 'echo first; read -r x; echo second');
      await output.has('first\n');
      expect(process.status).toBe('running');
      await type(process, '\n');
      await output.has('second\n');
      await process.exited;
    });

    it('hands on bytes that are no text as they are', async () => {
      const { output } = await run(await open(), "printf '\\000\\377\\376\\200a\\r\\n\\033[31m'");
      expect([...output.raw('stdout')]).toEqual([0, 255, 254, 128, 97, 13, 10, 27, 91, 51, 49, 109]);
    });

    it('loses nothing of a flood', async () => {
      const { output, exit } = await run(await open(), `seq -w 1 ${FLOOD_LINES}`);
      expect(exit.code).toBe(0);
      const raw = output.raw('stdout');
      expect(raw.length).toBe(FLOOD_LINES * LINE_BYTES);
      const expected = createHash('sha256');
      for (let line = 1; line <= FLOOD_LINES; line++) expected.update(`${String(line).padStart(6, '0')}\n`);
      expect(createHash('sha256').update(raw).digest('hex')).toBe(expected.digest('hex'));
    });

    it('waits for whoever takes its output', async () => {
      const test = await open();
      const { process, output } = await start(test, `read -r x; seq -w 1 ${FLOOD_LINES}`);
      let waiting = 0;
      let most = 0;
      output.hold = async () => {
        most = Math.max(most, ++waiting);
        await new Promise((resolve) => setTimeout(resolve, HELD_MS));
        waiting--;
        // Enough was seen of it; the rest may come at full speed.
        output.hold = undefined;
      };
      await type(process, '\n');
      expect((await process.exited).code).toBe(0);
      expect(output.raw('stdout').length).toBe(FLOOD_LINES * LINE_BYTES);
      expect(most).toBe(1);
    });
  });
}
