import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { findProgram } from '../../../src/pty/find-program.js';
import { PtyManager } from '../../../src/pty/pty-manager.js';
import { spawnPiped } from '../../../src/pty/spawn-piped.js';
import { describeChild } from '../../contracts/child.js';

const place = { cwd: '/', env: { PATH: '/usr/local/bin:/usr/bin:/bin', TERM: 'xterm-256color' } };
const manager = new PtyManager({ clock: systemClock });
afterAll(() => manager.whenClosed());

describeChild('in a terminal', { hasPid: true, isTerminal: true }, (script, sink) =>
  manager.spawn({
    ...place,
    command: ['sh', '-c', script],
    size: { columns: 80, rows: 24 },
    shell: 'sh',
    sink,
  }),
);

describeChild('on pipes', { hasPid: true, isTerminal: false }, (script, sink) =>
  spawnPiped({ ...place, command: ['sh', '-c', script], sink }),
);

it('is found in no part of PATH that the working directory could be', async () => {
  for (const PATH of ['bin', './bin', '../bin', '.', ''])
    await expect(findProgram('sh', '/usr', { PATH })).rejects.toThrow(
      /"sh" cannot be started: it is not on PATH/,
    );
});
