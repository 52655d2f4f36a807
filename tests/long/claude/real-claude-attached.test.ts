import { expect, it } from 'vitest';
import { attach } from '../../harness/attached-terminal.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { asks, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const DETACH = '\x1d';
const DOWN = '\x1b[B';
const ENTER = '\r';

describeNewestClaude('a person at the attached terminal', ({ binary }) => {
  it('answers the trust in the folder, a question and a plan, each with its own keys', async () => {
    const bridge = await startBridge({
      claude: binary,
      trusted: false,
      script: [
        asks('Which one?', ['This', 'That']),
        { tools: [{ name: 'EnterPlanMode', input: {} }] },
        { tools: [{ name: 'ExitPlanMode', input: {} }] },
        says('By hand, all of it.'),
      ],
    });
    const id = await bridge.start({ prompt: 'Ask.', path: bridge.project, permission_mode: 'cautious' });
    expect(await bridge.decision(id)).toMatchObject({ kind: 'trust' });
    const person = await attach(bridge);
    await person.press(DOWN, person.sees(/❯ Yes, I trust this folder/));
    await person.press(ENTER, person.sees('Which one?'));
    await bridge.until(id, ({ decisions }) => decisions[0]?.kind === 'question');
    await person.press('2', person.sees('Exit plan mode?'));
    await bridge.until(id, ({ decisions }) => decisions[0]?.kind === 'plan');
    await person.press(ENTER, person.sees('By hand, all of it.'));
    await bridge.until(id, ({ decisions }) => decisions.length === 0);
    person.type(DETACH);
    await person.exited;
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'By hand, all of it.' });
    const closed = await bridge.events(id, 'decision-closed');
    expect(closed.map(({ kind, answered_by }) => [kind, answered_by].join(' '))).toEqual([
      'trust terminal',
      'question terminal',
      'plan terminal',
    ]);
    expect(bridge.api.requests.flatMap(({ toolResults }) => toolResults)[0]?.text).toContain('That');
  });
});
