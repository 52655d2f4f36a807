import { afterEach, expect, test } from 'vitest';
import { runProgram } from '../../../src/os/run-program.js';

const PATH = process.env['PATH'] ?? '';
/** Starts a process outside of the group, which holds the pipes, and prints its pid. */
const HOLDER = `setsid sh -c 'echo $$; exec sleep 600' &`;
const left: number[] = [];
afterEach(() => {
  for (const pid of left.splice(0)) process.kill(pid, 'SIGKILL');
});

async function run(script: string, timeLimitMs = 30_000) {
  let text = '';
  const { signal } = new AbortController();
  const call = { program: 'sh', args: ['-c', script], cwd: '/', env: { PATH }, signal, timeLimitMs };
  const end = await runProgram(call, (chunk) => {
    text += chunk.toString();
  });
  left.push(Number.parseInt(text, 10));
  return { end, text };
}

test('a process that left the group and holds stdout open is not waited for', async () => {
  const { end, text } = await run(`${HOLDER} sleep 0.3; echo done; exit 3`);
  expect(end).toEqual({ how: 'exited', code: 3, stderr: '' });
  expect(text).toMatch(/^\d+\ndone\n$/);
});

test('nor is it after the time limit', async () => {
  expect((await run(`${HOLDER} sleep 600`, 500)).end).toEqual({ how: 'too-slow' });
});

test('a program that ignores SIGTERM is killed at its time limit', async () => {
  const { end } = await run(`echo $$; trap '' TERM; while :; do sleep 1; done`, 500);
  left.pop();
  expect(end).toEqual({ how: 'too-slow' });
});
