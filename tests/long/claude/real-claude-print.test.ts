import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeNewestClaude, drivers } from '../../harness/real-claude.js';
import { asks, runs, says, thinksForEver } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

describeNewestClaude('a task over the print driver', ({ binary }) => {
  it.each(drivers)(
    'what is not answered in time is denied with words for the model, and the work goes on (%s)',
    async (driver) => {
      const bridge = await startBridge({
        claude: binary,
        env: { MCP_DECISION_TIMEOUT: '1' },
        script: [
          asks('Which one?', ['This', 'That']),
          runs('touch never.txt'),
          says('I go on without both.'),
        ],
      });
      const id = await bridge.start({ prompt: 'Touch it.', driver, permission_mode: 'cautious' });
      expect(await bridge.end(id)).toMatchObject({
        status: 'completed',
        last_output: 'I go on without both.',
      });
      expect(existsSync(join(bridge.project, 'never.txt'))).toBe(false);
      expect(await bridge.events(id, 'decision-closed')).toMatchObject([
        { kind: 'question', verdict: 'deny', answered_by: 'deadline' },
        { kind: 'permission', verdict: 'deny', answered_by: 'deadline' },
      ]);
      const late = bridge.told().filter((text) => text.includes('No answer came within 1 seconds'));
      expect(late).toHaveLength(2);
    },
  );

  it('a kill ends it, and a message after an interrupt goes on', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [thinksForEver, says('Yes?'), thinksForEver],
    });
    const id = await bridge.start({ prompt: 'Think.', driver: 'print', keep_open: true });
    await expect.poll(() => bridge.api.turnsServed).toBe(1);
    await bridge.call('message_task', { task_id: id, interrupt: true, text: 'Hello?' });
    await bridge.until(id, (view) => view.status === 'waiting');
    await bridge.call('message_task', { task_id: id, text: 'Think again.' });
    await expect.poll(() => bridge.api.turnsServed).toBe(3);
    expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
  });
});
