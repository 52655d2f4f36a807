import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

const program = `
  const { renameSync } = require('node:fs');
  const [place, one, two] = process.argv.slice(1);
  process.stdout.write('ready');
  for (;;) {
    renameSync(place, one); renameSync(two, place);
    renameSync(place, two); renameSync(one, place);
  }`;

/** Another process that puts `two` in `place`, and back, as fast as it can until the test ends; `one` is a free name. */
export async function swapper(place: string, one: string, two: string): Promise<void> {
  await untilTheEnd(program, [place, one, two]);
}

/** Another process with a program of JavaScript, which has printed something, until the test ends. */
export async function untilTheEnd(text: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ['-e', text, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {},
  });
  onTestFinished(async () => {
    if (child.kill('SIGKILL')) await once(child, 'exit');
  });
  await once(child.stdout, 'data');
}
