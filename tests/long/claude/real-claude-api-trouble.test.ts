import { expect, it } from 'vitest';
import type { ScriptedRequest, ScriptedTurn } from '../../../src/cli/demo/scripted-api.js';
import { SUBSCRIBER } from '../../harness/limit-answers.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { unreachableUrl } from '../../harness/unreachable-url.js';

/** By itself the CLI asks ten times, which takes minutes. */
const ONE_RETRY = { CLAUDE_CODE_MAX_RETRIES: '1', MCP_PASS_ENVIRONMENT: 'CLAUDE_CODE_MAX_RETRIES' };
const drivers = ['interactive', 'print'] as const;
const overloaded = { status: 529, type: 'overloaded_error', message: 'Overloaded' };
const expired = {
  status: 401,
  type: 'authentication_error',
  message: 'OAuth token has expired. Please obtain a new token or refresh your existing token.',
};
/** The CLI asks again after a second more; a pause of five is worth a word. */
const RETRY_AFTER_SECONDS = 5;

/** A task for each driver, in a project of its own, all at once: most of their time is spent waiting. */
function startTasks(bridge: TestBridge, prompts: readonly string[]): Promise<string[]> {
  const overrides = prompts.flatMap((prompt) =>
    drivers.map((driver) => ({ prompt: `${prompt} (${driver})`, driver })),
  );
  return Promise.all(
    overrides.map((common, index) => bridge.start({ ...common, path: bridge.projects[index] ?? '' })),
  );
}

describeNewestClaude('an API in trouble', ({ binary }) => {
  it('that stays overloaded, or takes the login no more, fails tasks of either driver by name', async () => {
    const bridge = await startBridge({
      claude: binary,
      projects: ['one', 'two', 'three', 'four'],
      withKey: false,
      env: { ...SUBSCRIBER.env, ...ONE_RETRY },
      script: ({ userText }) => ({ error: userText.includes('Busy?') ? overloaded : expired }),
    });
    const ids = await startTasks(bridge, ['Busy?', 'Expired?']);
    const ends = await Promise.all(ids.map((id) => bridge.end(id)));
    const [busy, expiredToken] = [
      {
        kind: 'overloaded',
        reason:
          /529 Overloaded[^]* The API is overloaded or has an internal error\. Another task can go on from it/,
      },
      {
        kind: 'not-logged-in',
        reason:
          /401 OAuth token has expired\.[^]* Claude Code is not logged in, or its login has expired\. .*\/login/,
      },
    ];
    for (const [index, { kind, reason }] of [busy, busy, expiredToken, expiredToken].entries()) {
      expect(ends[index]).toMatchObject({ status: 'failed', trouble: { kind } });
      expect(ends[index]?.reason).toMatch(reason);
    }
  });

  it('that nobody reaches fails tasks of either driver by name', async () => {
    const bridge = await startBridge({
      claude: binary,
      projects: ['one', 'two'],
      env: { ...ONE_RETRY, ANTHROPIC_BASE_URL: await unreachableUrl() },
    });
    const ids = await startTasks(bridge, ['Anybody?']);
    for (const id of ids) {
      const end = await bridge.end(id);
      expect(end).toMatchObject({ status: 'failed', trouble: { kind: 'network' } });
      expect(end.reason).toMatch(/ECONNREFUSED.*The API cannot be reached\. Check the network/);
    }
  });

  it('that recovers is waited for, until a time that is told, and tasks of either driver go on', async () => {
    const bridge = await startBridge({
      claude: binary,
      projects: ['one', 'two'],
      env: { ...ONE_RETRY, MCP_RESUME_AFTER_LIMIT: 'true' },
      script: (request) => (request.userText.includes('Now?') ? says('Recovered.') : busyAt(request)),
    });
    const toldToWait = new Set<string>();
    // Of each session the first request is to come later, and then the CLI gives up.
    const busyAt = ({ userText }: ScriptedRequest): ScriptedTurn => {
      const driver = userText.includes('(print)') ? 'print' : 'interactive';
      if (toldToWait.has(driver)) return { error: overloaded };
      toldToWait.add(driver);
      return { error: { ...overloaded, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } } };
    };
    const ids = await startTasks(bridge, ['Still there?']);
    await Promise.all(
      ids.map(async (id, index) => {
        const first = await bridge.until(id, ({ activity }) =>
          activity.includes('Claude Code asks again at'),
        );
        expect(first.status).toBe('running');
        // One has it try at once, the other lets the CLI give up before.
        const interrupt = drivers[index] === 'interactive';
        if (!interrupt) {
          const then = await bridge.until(id, ({ reason }) => reason.includes('continues automatically at'));
          expect(then).toMatchObject({ status: 'waiting', trouble: { kind: 'overloaded' } });
          expect(then).toHaveProperty('trouble.resumes_at');
        }
        await bridge.call('message_task', { task_id: id, text: 'Now?', interrupt });
        expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Recovered.' });
      }),
    );
  });
});
