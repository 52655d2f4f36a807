import { describe, expect, it } from 'vitest';
import { run, start, type BackendFacts, type OpenBackend } from './under-test.js';

const EACH_BYTES = 5_000_000;

/** Many at once, and much of it. */
export function describeMany(facts: BackendFacts, open: OpenBackend): void {
  const { many, exits } = facts;
  describe('many and much', () => {
    it(`loses nothing of ${many} processes that print 5 MB each at once`, async () => {
      const test = await open();
      const script = `head -c ${EACH_BYTES} /dev/zero | tr '\\0' "$MARK"`;
      const all = await Promise.all(
        Array.from({ length: many }, (_, index) =>
          run(test, script, { env: { MARK: String.fromCharCode(97 + index) } }),
        ),
      );
      for (const [index, { output, exit }] of all.entries()) {
        expect(exit.code).toBe(0);
        const expected = Buffer.alloc(EACH_BYTES, 97 + index);
        expect(output.raw('stdout').equals(expected), `process ${index}`).toBe(true);
      }
    });

    it(`loses no byte of the ends of ${exits} processes that print and end at once`, async () => {
      const test = await open();
      const script = 'seq 1 2000; echo the end >&2; exit 4';
      let wrong = 0;
      for (let done = 0; done < exits; done += many) {
        const batch = Array.from({ length: Math.min(many, exits - done) }, () => run(test, script));
        for (const { output, exit } of await Promise.all(batch)) {
          const isWhole = output.raw('stdout').length === 8_893 && output.text('stderr') === 'the end\n';
          if (!isWhole || exit.code !== 4) wrong++;
        }
      }
      expect(wrong).toBe(0);
    });
  });

  describe('what it uses', () => {
    it('tells memory, time and number of a process and its children', async () => {
      const { process, output } = await start(await open(), 'sleep 60 & echo up; wait');
      await output.has('up');
      const stats = await process.stats();
      expect(stats.processCount).toBeGreaterThanOrEqual(2);
      expect(stats.memoryBytes).toBeGreaterThan(0);
      expect(stats.cpuSeconds).toBeGreaterThanOrEqual(0);
      expect(stats.listeningPorts ?? []).toEqual([]);
    });

    it('tells nothing of a process that has ended', async () => {
      const { process } = await run(await open(), ':');
      await expect(process.stats()).rejects.toMatchObject({ code: 'PROCESS_NOT_RUNNING' });
    });

    const { node } = facts.programs;
    if (node !== undefined) {
      it('tells the port on which a server listens', async () => {
        const script =
          'const s = require("net").createServer().listen(0, "127.0.0.1", () => console.log("port " + s.address().port + "."))';
        const { process, output } = await start(await open(), `"${node}" -e '${script}' & wait`);
        const port = /port (\d+)\./.exec(await output.has(/port \d+\./))?.[1];
        expect((await process.stats()).listeningPorts).toEqual([Number(port)]);
      });
    }
  });
}
