import { expect, it } from 'vitest';
import { SUBSCRIBER, limitReached } from '../../harness/limit-answers.js';
import { describeNewestClaude, drivers } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { unreachableUrl } from '../../harness/unreachable-url.js';

/** The bridge goes on two minutes after a reset; the interactive CLI tells it in whole minutes. */
const MARGIN_MS = 120_000;
/** Long enough to do something to a task that waits, when the time is told to the second. */
const LONGER_WAIT_MS = 7_000;
const HOUR_MS = 3_600_000;
/** Of each scripted answer, both ways. */
const SCRIPTED_TOKENS = 10;
/** By itself the CLI asks ten times, which takes minutes. */
const ONE_RETRY = { CLAUDE_CODE_MAX_RETRIES: '1', MCP_PASS_ENVIRONMENT: 'CLAUDE_CODE_MAX_RETRIES' };
const overloaded = { status: 529, type: 'overloaded_error', message: 'Overloaded' };
const expired = {
  status: 401,
  type: 'authentication_error',
  message: 'OAuth token has expired. Please obtain a new token or refresh your existing token.',
};
const full = {
  status: 400,
  type: 'invalid_request_error',
  message: 'prompt is too long: 208310 tokens > 200000 maximum',
};

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
  it('that stays overloaded, takes the login no more, has reached a limit, or finds a conversation full, fails tasks of either driver by name', async () => {
    const resetsAtMs = Date.now() + 2 * HOUR_MS;
    const reset = new Date(resetsAtMs).toISOString();
    const [busy, login, limit, context] = [
      /529 Overloaded[^]* The API is overloaded or has an internal error\. Another task can go on from it/,
      /401 OAuth token has expired\.[^]* Claude Code is not logged in, or its login has expired\. .*\/login/,
      new RegExp(
        `until ${reset.slice(0, 10)} ${reset.slice(11, 16)} UTC[^]*Another task can go on from it after the reset`,
      ),
      /Start a new session/,
    ];
    const cases = [
      { prompt: 'Busy?', kind: 'overloaded', reason: busy, turn: { error: overloaded } },
      { prompt: 'Expired?', kind: 'not-logged-in', reason: login, turn: { error: expired } },
      { prompt: 'Used up?', kind: 'usage-limit', reason: limit, turn: limitReached(resetsAtMs) },
      { prompt: 'Full?', kind: 'context-full', reason: context, turn: { error: full } },
    ];
    const bridge = await startBridge({
      claude: binary,
      projects: Array.from({ length: 2 * cases.length }, (_, at) => `app-${at}`),
      withKey: false,
      env: { ...SUBSCRIBER.env, ...ONE_RETRY },
      script: ({ userText }) =>
        cases.find(({ prompt }) => userText.includes(prompt))?.turn ?? { error: expired },
    });
    const ids = await startTasks(
      bridge,
      cases.map(({ prompt }) => prompt),
    );
    for (const [index, { kind, reason }] of cases.flatMap((one) => [one, one]).entries()) {
      const end = await bridge.end(ids[index] ?? '');
      expect(end).toMatchObject({ status: 'failed', trouble: { kind } });
      expect(end.reason).toMatch(reason);
      if (kind === 'usage-limit') expect(end.hint).toContain('continue_from');
    }
    const asked = bridge.api.requests.filter(
      ({ kind, userText }) => kind === 'turn' && /Used/.test(userText),
    );
    expect(asked).toHaveLength(2);
  });

  it('that does not answer fails tasks of either driver by name', async () => {
    const bridge = await startBridge({
      claude: binary,
      projects: ['one', 'two'],
      env: { ...ONE_RETRY, ANTHROPIC_BASE_URL: await unreachableUrl() },
    });
    for (const id of await startTasks(bridge, ['Anybody?'])) {
      const end = await bridge.end(id);
      expect(end).toMatchObject({ status: 'failed', trouble: { kind: 'network' } });
      expect(end.reason).toMatch(/ECONNREFUSED.*The API cannot be reached\. Check the network/);
    }
  });

  it('a task that waits for a reset outlives its server and Claude Code itself', async () => {
    const turns = [
      () => runs('echo before > before.txt'),
      // Counted from when it is reached, however long the start took.
      () => limitReached(Date.now() - MARGIN_MS + LONGER_WAIT_MS),
      () => says('All of it.'),
    ];
    const bridge = await startBridge({
      claude: binary,
      withKey: false,
      env: { ...SUBSCRIBER.env, MCP_RESUME_AFTER_LIMIT: 'true' },
      script: () => (turns.shift() ?? (() => says('No more.')))(),
    });
    const id = await bridge.start({ driver: 'print' });
    const waiting = await bridge.until(id, (view) => view.status === 'waiting');
    expect(waiting).toMatchObject({ trouble: { kind: 'usage-limit' } });
    expect(waiting.reason).toContain('continues automatically');
    const before = await bridge.record(id);
    await bridge.mcp.close();
    process.kill(before.agent?.pid ?? Number.NaN, 'SIGKILL');
    const later = await bridge.another();
    expect(await later.end(id)).toMatchObject({ status: 'completed', last_output: 'All of it.' });
    const after = await bridge.record(id);
    expect(after.agent?.pid).not.toBe(before.agent?.pid);
    expect(after.session_id).not.toBe(before.session_id);
    // Each program counts what it used itself: the first had one answer of the model, the second another.
    expect((await later.receipt(id)).usage).toMatchObject({
      source: 'result',
      models: [{ input: 2 * SCRIPTED_TOKENS, output: 2 * SCRIPTED_TOKENS }],
    });
    expect(bridge.api.requests.at(-1)?.messageCount).toBeGreaterThan(3);
  });
});
