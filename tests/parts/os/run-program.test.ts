import { afterEach, expect, test } from 'vitest';
import { runProgram, type TakeChunk } from '../../../src/os/run-program.js';

const left: number[] = [];
afterEach(() => {
  for (const pid of left.splice(0)) process.kill(pid, 'SIGKILL');
});

const PATH = process.env['PATH'] ?? '';
/** Starts a process outside of the group, which holds the pipes, and prints its pid. */
const HOLDER = `setsid sh -c 'echo $$; exec sleep 60' &`;

async function run(
  script: string,
  { timeLimitMs = 30_000, take }: { timeLimitMs?: number; take?: TakeChunk },
) {
  let text = '';
  const chunks = (chunk: Buffer) => {
    text += chunk.toString();
    return take?.(chunk);
  };
  const startMs = performance.now();
  const end = await runProgram(
    {
      program: 'sh',
      args: ['-c', script],
      cwd: '/',
      env: { PATH },
      signal: new AbortController().signal,
      timeLimitMs,
    },
    chunks,
  );
  return { end, text, tookMs: performance.now() - startMs };
}

test('a process that left the group and holds stdout open is not waited for', async () => {
  const { end, text, tookMs } = await run(`${HOLDER} sleep 0.3; echo done; exit 3`, {});
  left.push(parseInt(text));
  expect(end).toEqual({ how: 'exited', code: 3, stderr: '' });
  expect(text).toMatch(/^\d+\ndone\n$/);
  expect(tookMs).toBeLessThan(10_000);
});

test('nor is it after the time limit', async () => {
  const { end, text, tookMs } = await run(`${HOLDER} sleep 60`, { timeLimitMs: 500 });
  left.push(parseInt(text));
  expect(end).toEqual({ how: 'too-slow' });
  expect(tookMs).toBeLessThan(10_000);
});

test('output that is taken slowly after the exit is whole', async () => {
  const { end, text } = await run('for i in 1 2 3 4 5 6; do head -c 20000 /dev/zero; sleep 0.05; done', {
    take: () => new Promise((resolve) => setTimeout(resolve, 1_500)),
  });
  expect(end).toMatchObject({ how: 'exited', code: 0 });
  expect(text).toHaveLength(120_000);
});
