import { expect, it } from 'vitest';
import { until } from '../../harness/until.js';
import { startBridge } from '../../harness/start-bridge.js';
import { describeMachines, serversOf, sharedMachines } from './shared-machines.js';

/** The far end ends itself after 45 s of silence. */
const SILENCE_LIMIT_MS = 60_000;

describeMachines('a line that vanishes without a word', (claude) => {
  const machines = sharedMachines({ claude, count: 1 });

  it('leaves no server over there, and the task there goes on', async () => {
    const machine = machines().machine(1);
    const bridge = await startBridge({ claude, env: machines().env });
    const path = await machine.folder('silent');
    const prompt = 'DO until [ -e go ]; do sleep 0.2; done; echo made > made.txt';
    const id = await bridge.start({ machine: machine.name, path, prompt });
    await machine.cut('stall');
    const startMs = performance.now();
    const gone = (): Promise<void> =>
      until('the server there has ended', async () => void expect((await serversOf(machine)).size).toBe(0));
    // Longer than one wait may take.
    await gone().catch(gone);
    expect(performance.now() - startMs).toBeLessThan(SILENCE_LIMIT_MS);
    await machine.restore();
    await machine.exec(['touch', `${path}/go`]);
    await until('it is reached', () => bridge.status(id));
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect((await serversOf(machine)).size).toBe(1);
  });
});
