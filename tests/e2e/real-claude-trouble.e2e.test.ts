import { expect, it } from 'vitest';
import { SUBSCRIBER, limitReached } from '../harness/limit-answers.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runs, says } from '../harness/scripted-turns.js';
import { startBridge } from '../harness/start-bridge.js';

/** A limit whose reset the bridge takes for over in a moment: it waits 2 minutes longer than it was told. */
const almostOver = (): number => Date.now() - 117_000;
const hourMs = 3_600_000;
const drivers = [{ driver: 'interactive' }, { driver: 'print' }];

describeNewestClaude('trouble with the API', ({ binary }) => {
  it.each(drivers)('a usage limit fails the task ($driver) and says until when', async ({ driver }) => {
    const resetsAtMs = Date.now() + 2 * hourMs;
    const bridge = await startBridge({ claude: binary, ...SUBSCRIBER, script: [limitReached(resetsAtMs)] });
    const id = await bridge.start({ prompt: 'Work.', path: bridge.project, driver });
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'failed', trouble: { kind: 'usage-limit' } });
    const reset = new Date(resetsAtMs).toISOString();
    expect(end.reason).toContain(`until ${reset.slice(0, 10)} ${reset.slice(11, 16)} UTC`);
    expect(end.reason).toContain('continue_from');
    expect(bridge.api.turnsServed).toBe(1);
  });

  it.each(drivers)(
    'a task ($driver) that may wait goes on after the reset, with what it had',
    async ({ driver }) => {
      const script = [runs('echo before > before.txt'), limitReached(almostOver()), says('All of it.')];
      const bridge = await startBridge({
        claude: binary,
        withKey: false,
        env: { ...SUBSCRIBER.env, MCP_RESUME_AFTER_LIMIT: 'true' },
        script,
      });
      const id = await bridge.start({ prompt: 'Work.', path: bridge.project, driver });
      expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All of it.' });
      expect(await bridge.events(id, 'trouble')).toMatchObject([{ kind: 'usage-limit' }]);
      expect(await bridge.events(id, 'trouble-over')).toHaveLength(1);
      const statuses = (await bridge.events(id, 'status')).map((entry) => entry['to']);
      expect(statuses).toContain('waiting');
      // The session is the same: what came before the limit is in it.
      expect(bridge.api.requests.at(-1)?.messageCount).toBeGreaterThan(3);
    },
  );
});
