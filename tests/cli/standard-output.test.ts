import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { StandardOutput } from '../../src/cli/standard-output.js';
import { runProgram } from '../../src/os/run-program.js';

/** A stream that fails with the code, or takes what it is given when it is told. */
function stream(code?: string) {
  const held: (() => void)[] = [];
  const made = new Writable({
    highWaterMark: 4,
    autoDestroy: false,
    write: (_chunk, _encoding, done) => {
      const error = code === undefined ? undefined : Object.assign(new Error(`${code}: no`), { code });
      held.push(() => done(error));
    },
  });
  return { made, go: () => held.splice(0).forEach((one) => one()) };
}

it('says why what was printed could not be written, and that it is lost', async () => {
  const { made, go } = stream('ENOSPC');
  const output = new StandardOutput(made);
  const taken = output.write('many words');
  go();
  await taken;
  expect(output.lost.aborted).toBe(true);
  expect(await output.end()).toBe('ENOSPC: no');
});

it('takes a reader that has left for no error', async () => {
  const { made, go } = stream('EPIPE');
  const output = new StandardOutput(made);
  const taken = output.write('many words');
  go();
  await taken;
  expect(output.lost.aborted).toBe(true);
  expect(await output.end()).toBeUndefined();
});

it('lets what prints wait until there is room', async () => {
  const { made, go } = stream();
  const output = new StandardOutput(made);
  let isTaken = false;
  const taken = output.write('many words').then(() => (isTaken = true));
  await turn();
  expect(isTaken).toBe(false);
  // Who writes on without waiting costs no listener each.
  for (let count = 0; count < 50; count++) void output.write('more words');
  expect(made.listenerCount('drain')).toBe(1);
  while (!isTaken) {
    go();
    await turn();
  }
  await taken;
  expect(output.lost.aborted).toBe(false);
});

it('a program waits for who takes its output', async () => {
  const sizes: number[] = [];
  const { signal } = new AbortController();
  const script = 'for (let i = 0; i < 20; i++) process.stdout.write("x".repeat(65536))';
  const call = { program: process.execPath, args: ['-e', script], cwd: '/', env: {}, signal };
  const end = await runProgram({ ...call, timeLimitMs: 20_000 }, async (chunk) => {
    await turn();
    sizes.push(chunk.length);
  });
  expect(end).toMatchObject({ how: 'exited', code: 0 });
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20 * 65_536);
});

it('a program ends when its output cannot be taken any more', async () => {
  const { signal } = new AbortController();
  const call = { program: 'yes', args: [], cwd: '/', env: { PATH: '/usr/bin:/bin' }, signal };
  const running = runProgram({ ...call, timeLimitMs: 20_000 }, () => Promise.reject(new Error('full')));
  await expect(running).rejects.toThrow('full');
});
