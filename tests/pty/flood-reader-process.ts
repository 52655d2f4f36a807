// A process that reads a terminal, to be killed: `tsx flood-reader-process.ts <shell command>` says what the program printed
// when it has read 16 MB of it.
import { PtyManager } from '../../src/pty/pty-manager.js';
import { ManualClock } from '../harness/manual-clock.js';

const ENOUGH_BYTES = 16_000_000;
// Time stands still: so a flood is one on the slowest machine.
const manager = new PtyManager({ clock: new ManualClock() });
const session = await manager.spawn({
  command: ['/bin/sh', '-c', process.argv[2] ?? ''],
  cwd: '/',
  env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  columns: 80,
  rows: 24,
  shell: '/bin/sh',
});
let bytes = 0;
session.onData((data) => {
  bytes += data.length;
  if (bytes >= ENOUGH_BYTES && bytes - data.length < ENOUGH_BYTES) process.stdout.write('flooded\n');
});
