import { describe, expect, it, vi } from 'vitest';
import type { CommandEnd } from '../../../src/claude/command-outcome.js';
import { openDecisions } from '../../../src/tasks/task.js';
import type { RuleVerdict } from '../../../src/tasks/run/run-state.js';
import { canContinue, pollingHint } from '../../../src/tasks/polling-hint.js';
import { settle } from '../../claude/pass-time.js';
import { createRun, type RunHarness } from '../run-harness.js';

/** Beside other work a moment may take seconds. */
const PATIENCE = { timeout: 10_000 };

/** A decision is asked a moment after its request: a rule looks at paths on disk first. */
async function asked(harness: RunHarness): Promise<string> {
  const id = await vi.waitUntil(() => openDecisions(harness.run.record).at(-1)?.decision_id, PATIENCE);
  return id;
}

async function started(options?: Parameters<typeof createRun>[0]): Promise<RunHarness> {
  const harness = await createRun(options);
  await harness.run.start();
  return harness;
}

describe('a run', () => {
  it('can be continued if Claude Code has stored its session, and else has none', async () => {
    for (const isStored of [true, false]) {
      const { run, driver } = await started({ isStored });
      const sessionId = '11111111-1111-4111-8111-111111111111';
      driver.fire({ type: 'session', sessionId });
      driver.exit({ code: 1 });
      const end = await run.ended;
      expect(end).toMatchObject({ status: 'failed', session_id: isStored ? sessionId : null });
      expect(canContinue(end)).toBe(isStored);
    }
  });

  it('takes no mode after a plan that its project does not allow: the decision stays open', async () => {
    const harness = await started({ spec: { allowed_modes: ['cautious', 'claude'] } });
    const { run, driver } = harness;
    driver.ask({ requestId: 'r1', kind: 'plan' });
    const answer = { decision_id: await asked(harness), verdict: 'allow', by: 'caller' } as const;
    await expect(run.respond({ ...answer, answers: { mode: 'auto' } })).rejects.toThrow(
      "The mode 'auto' is not allowed in this project. Allowed: cautious, claude.",
    );
    expect(openDecisions(run.record)).toHaveLength(1);
    await run.respond({ ...answer, answers: { mode: 'cautious' } });
    expect(driver.answers).toMatchObject([{ requestId: 'r1', answer: { verdict: 'allow' } }]);
    driver.endTurn('All done.');
  });

  it('waits while a dialog is on the screen that nobody can answer but at the terminal', async () => {
    const { run, driver } = await started();
    const before = run.record.change_seq;
    driver.fire({ type: 'dialog', text: 'An unknown dialog waits: Choose a colour [Red | Blue]' });
    expect(run.record).toMatchObject({
      status: 'waiting',
      status_source: 'observed',
      change_seq: before + 1,
    });
    expect(run.record.reason).toMatch(/^An unknown dialog waits: Choose a colour .* at the terminal\.$/);
    expect(pollingHint(run.record)).toMatch(/waits for a person at its terminal/);
    driver.fire({ type: 'dialog', text: null });
    expect(run.record).toMatchObject({ status: 'running', change_seq: before + 2 });
    driver.endTurn('All done.');
  });

  it('keeps the final message whole; of one that no model gives the end, too, which is its last output', async () => {
    const { run, driver } = await started();
    driver.endTurn(`${'x'.repeat(3_000_000)}The end.`);
    driver.exit();
    const { final_message, last_output } = await run.ended;
    expect(final_message.length).toBeLessThan(600_000);
    expect(final_message.endsWith(last_output) && last_output.endsWith('The end.')).toBe(true);
  });

  it('has in its log and events what a command printed, with its exit code; of much the beginning and the end', async () => {
    const { run, driver, log, journal } = await started();
    const end = (summary: string, ok: boolean, command: CommandEnd): void =>
      driver.fire({ type: 'tool-finished', tool: 'Bash', summary, ok, filesChanged: [], command });
    end('Bash(make)', false, { exitCode: 2, output: 'one\n\u001b[31mtwo\u001b[0m\n' });
    end('Bash(true)', true, { exitCode: 0, output: '' });
    end('Bash(seq)', true, { exitCode: 0, output: `first\n${'x'.repeat(100_000)}\nlast` });
    end('Bash(sleep 9 &)', true, { exitCode: null, note: 'runs in the background', output: '' });
    driver.exit();
    await run.ended;
    const finished = (await journal()).filter(({ type }) => type === 'tool-finished');
    expect(finished[0]).toMatchObject({ ok: false, exit_code: 2, output: 'one\ntwo' });
    expect(log()).toMatch(/\] ✗ Bash\(make\): exit code 2\n {4}one\n {4}two\n\[/);
    expect(log()).toMatch(/\] ✓ Bash\(true\): exit code 0, no output\n\[/);
    expect(log()).toMatch(/ {4}first\n {4}x+\n {4}… 92,011 characters left out …\n {4}x+\n {4}last\n\[/);
    expect(log()).toContain('… Bash(sleep 9 &): runs in the background\n');
  });

  const untold = /^The agent exited with code 1: Error: no such model$/;
  it.each([
    ['trust-folder', 'not answered', /^The folder was not trusted, so Claude Code did not start\. /],
    ['trust-folder', 'deny', /^The folder was not trusted, so Claude Code did not start\. /],
    ['settings-error', 'deny', /^"The dialog" was not allowed, so Claude Code did not start\. /],
    ['api-key', 'deny', untold],
    ['trust-folder', 'allow', untold],
    ['trust-folder', 'by keys', untold],
  ] as const)('that ends at its start after the dialog %s (%s) says so', async (tool, verdict, reason) => {
    const harness = await createRun();
    const { run, driver } = harness;
    driver.start = async () => driver.fire({ type: 'spawned', pid: undefined });
    await run.start();
    driver.ask({ requestId: 'screen-1', kind: 'trust', tool, summary: 'The dialog' });
    const decision_id = await asked(harness);
    if (verdict === 'by keys') {
      run.typed();
      driver.fire({ type: 'request-gone', requestId: 'screen-1' });
    } else if (verdict !== 'not answered') await run.respond({ decision_id, verdict, by: 'terminal' });
    // Its hook of the end reports it.
    if (verdict === 'deny') driver.fire({ type: 'session', sessionId: 'session' });
    driver.output = 'Error: no such model';
    driver.exit({ code: 1 });
    expect((await run.ended).reason).toMatch(reason);
  });

  it('shows the answer of its last turn until the next begins, whatever is on the screen', async () => {
    const { run, driver } = await started({ spec: { keep_open: true } });
    driver.output = 'words on the screen';
    driver.fire({ type: 'output', bytes: 10 });
    expect(run.record.last_output).toBe('words on the screen');
    driver.endTurn('The answer.');
    driver.fire({ type: 'output', bytes: 10 });
    expect(run.record).toMatchObject({ last_output: 'The answer.', output_bytes: 20, status: 'waiting' });
    driver.fire({ type: 'turn-started', source: 'exact', prompt: 'More.' });
    driver.fire({ type: 'output', bytes: 10 });
    expect(run.record.last_output).toBe('words on the screen');
  });

  it('is one change for a caller, when its last turn ends and then the task', async () => {
    const { run, driver } = await started();
    const before = run.record.change_seq;
    driver.endTurn('All done.');
    expect(run.record.change_seq).toBe(before);
    driver.exit();
    expect((await run.ended).change_seq).toBe(before + 1);
  });

  it('ends what is left, frees the project, and only then tells its end', async () => {
    const { run, driver, steps } = await started({ leftovers: 2 });
    driver.exit();
    await run.ended;
    expect(steps.slice(-4)).toEqual([
      'leftovers ended',
      'project released',
      'files written out',
      'told completed',
    ]);
  });

  it.each([
    [{ code: 3 }, 'failed', 'The agent exited with code 3: A line. ⏎ Error: no such file'],
    [{ signal: 'SIGSEGV' }, 'failed', 'The agent was ended by the signal SIGSEGV.'],
    [{ signal: 'SIGKILL', reason: 'No memory was left.' }, 'failed', 'No memory was left.'],
    [{ code: 0 }, 'completed', 'The agent exited with code 0.'],
  ] as const)('an exit %o that was not requested is %s', async (exit, status, reason) => {
    const { run, driver } = await started();
    driver.output = 'A line.\nError: no such file';
    driver.exit(exit);
    expect(await run.ended).toMatchObject({ status, reason, last_output: driver.output });
  });

  it.each([
    [
      { signal: 'SIGTERM' },
      'completed',
      'The agent finished its work; its session did not leave and was ended by the signal SIGTERM.',
    ],
    [{ signal: 'SIGKILL', reason: 'No memory was left.' }, 'failed', 'No memory was left.'],
  ] as const)('after its last turn an exit %o is %s', async (exit, status, reason) => {
    const { run, driver } = await started();
    driver.endTurn('All done.');
    expect(driver.told).toEqual(['start', 'close']);
    driver.exit(exit);
    expect(await run.ended).toMatchObject({ status, reason, exit_code: null, signal: exit.signal });
  });

  it('the first cause of an end wins, whatever comes after it', async () => {
    const { run, driver, clock } = await started({ spec: { timeout_seconds: 60 } });
    const killed = run.kill('Enough.');
    clock.advance(61_000);
    run.fail('A fault.');
    driver.fire({ type: 'trouble', kind: 'network', text: 'No network.' });
    expect(driver.told).toEqual(['start', 'kill']);
    expect(run.record.status).toBe('running');
    driver.exit({ signal: 'SIGTERM' });
    expect(await killed).toMatchObject({ status: 'killed', reason: 'Enough.', signal: 'SIGTERM' });
    expect(await run.kill('Again.')).toMatchObject({ status: 'killed', reason: 'Enough.' });
    driver.endTurn('late');
    expect(run.record).toMatchObject({ status: 'killed', turns: 0 });
  });

  it('a kill that comes before there is a process ends the process once it is there', async () => {
    const { run, driver } = await createRun();
    const killed = run.kill('Too soon.');
    await run.start();
    expect(driver.told).toEqual(['kill', 'start', 'kill']);
    driver.exit({ signal: 'SIGTERM' });
    expect(await killed).toMatchObject({ status: 'killed', reason: 'Too soon.' });
  });

  it.each([
    {
      what: 'trouble',
      fire: { type: 'trouble', kind: 'not-logged-in', text: 'Log in.' } as const,
      reason: 'Log in.',
    },
    {
      what: 'a turn that the API ended',
      fire: {
        type: 'turn-ended',
        source: 'exact',
        message: '',
        backgroundTasks: 0,
        error: { kind: 'api-error', text: 'API Error: 400' },
      } as const,
      reason: 'Claude Code stopped: API Error: 400',
    },
    {
      what: 'a first prompt that a hook blocked',
      fire: { type: 'prompt-blocked', reason: 'A hook blocked it: no ticket.' } as const,
      reason: 'A hook blocked it: no ticket.',
    },
  ])('fails with the words of $what', async ({ fire, reason }) => {
    const { run, driver } = await started();
    driver.fire(fire);
    driver.exit({ code: 1 });
    expect(await run.ended).toMatchObject({ status: 'failed', reason });
  });

  it('a program that does not end holds up no result', async () => {
    const { run, driver, clock } = await started();
    driver.endTurn('The server runs.', { backgroundTasks: 1 });
    clock.advance(10 * 60_000);
    driver.exit({ signal: 'SIGTERM' });
    expect(await run.ended).toMatchObject({
      status: 'completed',
      reason:
        'The agent finished its work. When its session was ended ten minutes later: 1 background program still runs.',
      last_output: 'The server runs.',
    });
  });

  it('a turn that the agent scheduled is begun at its time', async () => {
    const { run, driver, clock } = await started();
    const wakeUp = { atMs: clock.now() + 60_000, prompt: 'Look again.' };
    driver.fire({
      type: 'tool-finished',
      tool: 'ScheduleWakeup',
      summary: '',
      ok: true,
      filesChanged: [],
      wakeUp,
    });
    driver.endTurn('It is not done yet.');
    expect(run.record).toMatchObject({
      status: 'running',
      reason: expect.stringContaining('a turn is scheduled for '),
    });
    clock.advance(60_000);
    await settle();
    expect(driver.told).toEqual(['start', 'send Look again.']);
    driver.endTurn('Done.');
    expect(driver.told.at(-1)).toBe('close');
    driver.exit();
    expect(await run.ended).toMatchObject({ status: 'completed', final_message: 'Done.' });
  });
});

describe('a request', () => {
  it('that must be asked makes the task wait, until it is answered once', async () => {
    const harness = await started();
    const { run, driver } = harness;
    const before = run.record.change_seq;
    driver.ask({ requestId: 'r1' });
    const decision_id = await asked(harness);
    expect(run.record).toMatchObject({ status: 'waiting', reason: 'Waits for an answer to: Bash(make)' });
    expect(run.record.change_seq).toBeGreaterThan(before);
    const first = run.respond({ decision_id, verdict: 'allow_session', by: 'caller' });
    await expect(run.respond({ decision_id, verdict: 'deny', by: 'caller' })).rejects.toMatchObject({
      code: 'DECISION_CLOSED',
    });
    // Who was refused reads there what closed it.
    expect(await harness.onDisk()).toMatchObject({ decisions: [{ verdict: 'allow_session' }] });
    expect(await first).toMatchObject({ status: 'running' });
    // A form in the chat stays open: what is sent from it then is recorded.
    const late = run.respond({ decision_id, verdict: 'deny', by: 'elicitation' });
    await expect(late).rejects.toMatchObject({ code: 'DECISION_CLOSED' });
    expect(run.record.decisions).toMatchObject([{ verdict: 'allow_session', late: ['deny'] }]);
    expect(driver.answers).toEqual([{ requestId: 'r1', answer: { verdict: 'allow_session' } }]);
  });

  it('takes the same answer with the same request each time, and another one as too late', async () => {
    const harness = await started();
    const { run, driver } = harness;
    driver.ask({ requestId: 'r1' });
    const answer = { decision_id: await asked(harness), verdict: 'allow', by: 'caller' } as const;
    const both = [run.respond(answer, 'mine'), run.respond(answer, 'mine')];
    for (const record of await Promise.all(both)) expect(record).toMatchObject({ status: 'running' });
    expect(await run.respond(answer, 'mine')).toMatchObject({ requests: ['mine'] });
    await expect(run.respond(answer, 'yours')).rejects.toMatchObject({ code: 'DECISION_CLOSED' });
    expect(driver.answers).toHaveLength(1);
    expect(await harness.onDisk()).toMatchObject({ requests: ['mine'] });
    driver.endTurn('Done.');
    driver.exit();
    expect((await run.ended).requests).toEqual(['mine']);
  });

  it('that was allowed for the session is not asked again, unless a rule denies it by then', async () => {
    let verdict: RuleVerdict['verdict'] = 'ask';
    const harness = await started({ check: () => ({ verdict, rule: 'a-rule', reason: 'so it is' }) });
    const { run, driver } = harness;
    driver.ask({ requestId: 'r1' });
    const decision_id = await asked(harness);
    await run.respond({ decision_id, verdict: 'allow_session', by: 'caller' });
    driver.ask({ requestId: 'r2' });
    await vi.waitUntil(() => driver.answers.length === 2, PATIENCE);
    verdict = 'deny';
    driver.ask({ requestId: 'r3' });
    await vi.waitUntil(() => driver.answers.length === 3, PATIENCE);
    expect(driver.answers.map(({ answer }) => answer.verdict)).toEqual(['allow_session', 'allow', 'deny']);
    expect(run.record.decisions[1]).toMatchObject({
      verdict: 'allow',
      answered_by: 'rule',
      reason: `allowed-for-session: ${decision_id} allowed it for the session`,
    });
  });

  it.each([
    ['deny', 'denies'],
    ['ask', 'asks about'],
  ] as const)('is not allowed with an input about which another rule says %s', async (verdict, word) => {
    const rules = [{ rule: 'Bash(mkdir *)', verdict, reason: 'the project says so' }] as const;
    const harness = await started({ rules });
    harness.driver.ask({ requestId: 'r1' });
    const answers = { command: 'mkdir x' };
    const decision_id = await asked(harness);
    const refused = harness.run.respond({ decision_id, verdict: 'allow', answers, by: 'caller' });
    await expect(refused).rejects.toThrow(`Bash(mkdir *) ${word} what this input mentions`);
  });

  it('two at once are both named, and the task waits for both', async () => {
    const harness = await started();
    const { run, driver } = harness;
    driver.ask({ requestId: 'r1' });
    const first = await asked(harness);
    driver.ask({ requestId: 'r2', summary: 'Bash(test)' });
    await vi.waitUntil(() => openDecisions(run.record).length === 2, PATIENCE);
    expect(run.record.reason).toBe('Waits for an answer to: Bash(make) (and 1 more)');
    await run.respond({ decision_id: first, verdict: 'deny', message: 'No.', by: 'caller' });
    expect(run.record).toMatchObject({ status: 'waiting', reason: 'Waits for an answer to: Bash(test)' });
    driver.exit();
    expect((await run.ended).decisions.map(({ verdict }) => verdict)).toEqual(['deny', 'withdrawn']);
  });

  it('that a person answered at the terminal is reported as answered, and its verdict as not known', async () => {
    const harness = await started();
    const { run, driver, log } = harness;
    driver.ask({ requestId: 'r1' });
    await asked(harness);
    run.typed();
    driver.fire({ type: 'request-gone', requestId: 'r1' });
    const reason = 'answered at the terminal; whether it was allowed or denied is not known';
    expect(run.record.decisions).toMatchObject([{ answered_by: 'terminal', reason }]);
    expect(log()).toContain(`(by terminal: ${reason})`);
    expect(log()).toContain('– answered: ');
    expect(log()).not.toContain('withdrawn');
  });

  it('that goes away by itself is withdrawn', async () => {
    const { run, driver } = await started();
    driver.ask({ requestId: 'r2' });
    await vi.waitUntil(() => openDecisions(run.record).length === 1, PATIENCE);
    driver.fire({ type: 'request-gone', requestId: 'r2' });
    const reason = 'the session went on without an answer';
    expect(run.record).toMatchObject({
      status: 'running',
      decisions: [{ verdict: 'withdrawn', answered_by: 'session', reason }],
    });
    driver.ask({ requestId: 'r3' });
    await vi.waitUntil(() => openDecisions(run.record).length === 1, PATIENCE);
    const killed = run.kill('Enough.');
    driver.fire({ type: 'request-gone', requestId: 'r3' });
    driver.exit();
    expect((await killed).decisions[1]).toMatchObject({ reason: 'the task ended before an answer' });
  });

  it('an answer that comes too late for the session is told in the log', async () => {
    const harness = await started();
    const { run, driver, log } = harness;
    driver.answerResult = 'gone';
    driver.ask({ requestId: 'r1' });
    await run.respond({ decision_id: await asked(harness), verdict: 'allow', by: 'caller' });
    expect(log()).toContain('The session had moved on');
  });
});

describe('a message', () => {
  it('is confirmed: as waiting for the turn or behind a question, as delivered, and as lost at the end', async () => {
    const harness = await started();
    const { run, driver, log } = harness;
    const first = await run.message({ text: 'one' });
    expect(first.messages).toEqual([{ text: 'one', state: 'waiting' }]);
    expect(pollingHint(first)).toMatch(/^1 message waits until the turn is over\. /);
    driver.ask({ requestId: 'r1' });
    const decision = await asked(harness);
    expect(pollingHint(await run.message({ text: 'two' }))).toMatch(
      `2 messages wait until ${decision} is answered and the turn is over. `,
    );
    expect(log()).toMatch(
      /A message waits until the turn is over: one[^]*A message waits until dec_1 is answered.*: two/,
    );
    await run.respond({ decision_id: decision, verdict: 'allow', by: 'caller' });
    driver.endTurn('First.');
    await settle();
    expect(run.record.messages).toMatchObject([{ state: 'delivered' }, { state: 'waiting' }]);
    const ending = run.kill('Enough.');
    driver.exit({ signal: 'SIGTERM' });
    const end = await ending;
    expect(end.messages).toEqual([
      { text: 'one', state: 'delivered' },
      { text: 'two', state: 'lost' },
    ]);
    expect(pollingHint(end)).toMatch(/^1 message was not delivered: two\. /);
    expect(log()).toContain('A message was not delivered: the task ended first: two');
  });

  it('is sent once for each request, also while it is on its way, and again when it was refused', async () => {
    const { run, driver } = await started({ spec: { keep_open: true } });
    driver.endTurn('First.');
    const one = { text: 'one', interrupt: true };
    await Promise.all([run.message(one, 'a'), run.message(one, 'a')]);
    await run.message(one, 'a');
    expect(driver.told).toEqual(['start', 'send one']);
    driver.endTurn('Second.');
    driver.refusals = 1;
    driver.refusal = 'kept';
    await expect(run.message({ text: 'two' }, 'b')).rejects.toThrow('not delivered');
    expect(run.record.requests).toEqual(['a']);
    await run.message({ text: 'two' }, 'b');
    await run.message({ text: 'two' }, 'c');
    expect(driver.told.filter((told) => told === 'send two')).toHaveLength(2);
    expect(run.record.requests).toEqual(['a', 'b', 'c']);
    driver.exit();
    await run.ended;
  });

  it('that the session does not take leaves the task waiting, and is sent once it is taken, before later ones', async () => {
    const { run, driver, clock, log } = await started({ spec: { keep_open: true, timeout_seconds: 100 } });
    driver.endTurn('First.');
    driver.refusals = 2;
    await run.message({ text: 'one' });
    expect(run.record).toMatchObject({
      status: 'waiting',
      activity: 'A message waits to be sent: something covers the input box of Claude Code',
    });
    await run.message({ text: 'two' });
    clock.advance(10_000);
    await settle();
    expect(driver.told).toEqual(['start', 'send one', 'send one', 'send one']);
    expect(run.record.status).toBe('running');
    expect(log().match(/A message waits to be sent/g)).toHaveLength(1);
    driver.endTurn('Second.');
    await settle();
    expect(driver.told.at(-1)).toBe('send two');
    driver.endTurn('Third.');
    await settle();
    clock.advance(100_000);
    driver.exit();
    expect(await run.ended).toMatchObject({ status: 'completed', final_message: 'Third.' });
  });

  it('is waited for again when the person at the terminal has left, and what a tool did is over with it', async () => {
    const { run, driver } = await started({ spec: { keep_open: true } });
    const tool = { tool: 'Bash', summary: 'Bash(npm test)' };
    driver.fire({ type: 'tool-started', ...tool, input: {} });
    expect(run.record.activity).toBe('Bash(npm test)');
    driver.fire({ type: 'tool-finished', ...tool, ok: true, filesChanged: [] });
    expect(run.record.activity).toBe('Working');
    const person = run.hold();
    driver.endTurn('First.');
    expect(run.record.activity).toBe('A person works at the terminal');
    person.dispose();
    expect(run.record.activity).toMatch(/^Ready for a message/);
  });

  it('over the limit is refused', async () => {
    const { run } = await started();
    for (let count = 0; count < 20; count++) await run.message({ text: `${count}` });
    await expect(run.message({ text: 'more' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });

  it('to a task that is being left, ended or killed is refused', async () => {
    const { run, driver } = await started();
    driver.endTurn('Done.');
    await expect(run.message({ text: 'wait' })).rejects.toThrow(/is ending: its work is done\./);
    driver.exit();
    await run.ended;
    await expect(run.message({ text: 'wait' })).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING' });
  });

  it('after each turn of a session kept open goes out at once; the time limit then completes it', async () => {
    const { run, driver, clock } = await started({ spec: { keep_open: true, timeout_seconds: 100 } });
    driver.endTurn('First.');
    expect(run.record).toMatchObject({ status: 'waiting', decisions: [] });
    expect(pollingHint(await run.message({ text: 'next' }))).toMatch(/^The message was delivered\. /);
    expect(driver.told).toEqual(['start', 'send next']);
    expect(run.record.status).toBe('running');
    driver.fire({ type: 'turn-started', source: 'exact', prompt: 'next' });
    driver.endTurn('Second.');
    clock.advance(100_000);
    expect(driver.told.at(-1)).toBe('close');
    driver.exit();
    const end = await run.ended;
    expect(end).toMatchObject({ status: 'completed', final_message: 'Second.' });
    expect(end.reason).toContain('kept open until the time limit of 100 seconds');
  });

  it('an interrupt reaches a running turn; then the task waits for a message, but not for ever', async () => {
    const { run, driver, clock } = await started({ spec: { settings: { decision_timeout_seconds: 30 } } });
    await run.message({ interrupt: true });
    expect(driver.told).toEqual(['start', 'interrupt']);
    driver.endTurn('', { interrupted: true });
    expect(run.record.status).toBe('waiting');
    clock.advance(30_000);
    expect(driver.told.at(-1)).toBe('close');
    driver.exit();
    expect(await run.ended).toMatchObject({
      status: 'failed',
      reason: 'The turn was interrupted, and no further message came within 30 seconds.',
    });
  });

  it('that waits is sent once the interrupt is over, not while keys may still be pressed', async () => {
    const { run, driver, log } = await started({ spec: { keep_open: true } });
    await run.message({ text: 'next' });
    driver.duringInterrupt = async () => {
      driver.endTurn('', { interrupted: true });
      await settle();
      driver.told.push('interrupt is over');
    };
    await run.message({ interrupt: true });
    expect(driver.told).toEqual(['start', 'interrupt', 'interrupt is over', 'send next']);
    expect(log()).toContain('Interrupted by the caller');
  });

  it('whose interrupt is refused is not sent, then or later', async () => {
    const { run, driver, log } = await started({ spec: { keep_open: true } });
    driver.interruptFault = new Error('Esc was not pressed');
    await expect(run.message({ interrupt: true, text: 'stop' })).rejects.toThrow('Esc was not pressed');
    driver.endTurn('Done.');
    await settle();
    expect(driver.told).toEqual(['start']);
    expect(log()).not.toContain('Interrupted');
  });

  it.each([
    ['command', /not delivered: Claude Code took it as a command of its own/],
    ['kept', /not delivered: ten seconds after Enter it was still in the input box/],
  ] as const)(
    'that is lost (%s) is an error for its caller, and the next one is sent',
    async (refusal, words) => {
      const { run, driver, log } = await started({ spec: { keep_open: true } });
      driver.endTurn('First.');
      Object.assign(driver, { refusals: 1, refusal });
      await expect(run.message({ text: 'one' })).rejects.toThrow(words);
      expect(run.record).toMatchObject({ status: 'waiting', final_message: 'First.', last_output: 'First.' });
      expect(log()).toMatch(/A message was not delivered: .*: one/);
      await run.message({ text: 'two' });
      expect(driver.told.at(-1)).toBe('send two');
    },
  );

  it('that a hook of the person blocks is named, and the session waits for another', async () => {
    const { run, driver } = await started({ spec: { keep_open: true } });
    driver.endTurn('First.');
    await run.message({ text: 'one' });
    driver.fire({ type: 'turn-started', source: 'exact', prompt: 'one' });
    driver.fire({ type: 'prompt-blocked', reason: 'A hook blocked it: no ticket.' });
    await settle();
    expect(run.record).toMatchObject({ status: 'waiting', activity: 'A hook blocked it: no ticket.' });
  });
});

describe('a disk that fails at the end of a task', () => {
  it('is not called failing any more in the final record when it has taken everything', async () => {
    const { run, driver, onDisk, told } = await started();
    run.setStorage('failing', 'failing since then', 'failing since then');
    driver.exit();
    expect(await run.ended).toMatchObject({ status: 'completed', storage: 'failing since then' });
    run.setStorage('back', 'the disk failed for a while', null);
    expect(run.record).toMatchObject({ status: 'completed', storage: null });
    expect(told.at(-1)).toMatchObject({ status: 'completed', storage: null });
    await expect.poll(async () => (await onDisk()).storage).toBeNull();
  });

  it('is told as it was last, also when that changed while the end was written', async () => {
    const { run, driver, onDisk } = await started();
    run.setStorage('failing', 'failing since then', 'failing since then');
    driver.exit();
    run.setStorage('back', 'missing: 5 bytes', 'missing: 5 bytes');
    await run.ended;
    await expect.poll(async () => (await onDisk()).storage).toBe('missing: 5 bytes');
    expect((await onDisk()).status).toBe('completed');
  });
});
