import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeNewestClaude, describeRealClaude } from '../../harness/real-claude.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

describeRealClaude('a task for the real CLI', ({ version, binary }) => {
  it('creates a file after an approval, with the model that was asked for', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [runs('echo hi > hello.txt', 'I will.'), says('All written.')],
    });
    const model = 'claude-haiku-4-5-20251001';
    const id = await bridge.start({
      prompt: 'Write it.',
      path: bridge.project,
      permission_mode: 'cautious',
      model,
    });
    expect(await bridge.answerNext(id, { verdict: 'allow' })).toMatchObject({
      kind: 'permission',
      tool: 'Bash',
    });
    expect(await bridge.end(id)).toMatchObject({
      status: 'completed',
      exit_code: 0,
      last_output: 'All written.',
    });
    expect(await readFile(join(bridge.project, 'hello.txt'), 'utf8')).toBe('hi\n');
    const turn = bridge.api.requests.find((request) => request.kind === 'turn');
    expect(turn?.model).toBe(model);
  });

  it('creates a file and runs a command unasked in mode auto', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: (request) => {
        if (request.toolResults.length === 0)
          return {
            tools: [
              { name: 'Write', input: { file_path: `${bridge.project}/made.txt`, content: 'by hand' } },
            ],
          };
        return request.messageCount < 5 ? runs('cp made.txt copied.txt') : says('Both are there.');
      },
    });
    const id = await bridge.start({ prompt: 'Make both.', path: bridge.project });
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'completed', last_output: 'Both are there.' });
    expect(end.files_changed).toEqual([join(bridge.project, 'made.txt')]);
    expect(await readFile(join(bridge.project, 'copied.txt'), 'utf8')).toBe('by hand');
    expect(await bridge.events(id, 'decision-closed')).toEqual([]);
    expect(JSON.parse(await bridge.mcp.readResource(`tasks://${id}`))).toMatchObject({
      cli_version: version,
      turns: 1,
    });
  });

  it('tells the model why a command and a plan were denied, and nothing of them is carried out', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [
        runs('touch never.txt'),
        { tools: [{ name: 'EnterPlanMode', input: {} }] },
        { tools: [{ name: 'ExitPlanMode', input: { plan: '1. Touch it.' } }] },
        says('Then I stop.'),
      ],
    });
    const id = await bridge.start({ prompt: 'Touch it.', path: bridge.project, permission_mode: 'cautious' });
    expect(await bridge.answerNext(id, { verdict: 'deny', message: 'Not in this house.' })).toMatchObject({
      kind: 'permission',
      tool: 'Bash',
    });
    expect(await bridge.answerNext(id, { verdict: 'deny', message: 'Too bold.' })).toMatchObject({
      kind: 'plan',
      tool: 'ExitPlanMode',
    });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Then I stop.' });
    expect(existsSync(join(bridge.project, 'never.txt'))).toBe(false);
    const told = bridge.api.requests.flatMap((request) => request.toolResults);
    expect(told).toHaveLength(3);
    expect(told[0]).toMatchObject({ isError: true });
    expect(told[0]?.text).toContain('Not in this house.');
    expect(told[2]?.text).toContain('Too bold.');
  });

  it('passes questions on, also in mode auto, and their answers back: an option, and free text', async () => {
    const answers = [
      { question: 'Which database should I use?', answer: 'MariaDB' },
      { question: 'And which one for tests?', answer: 'A file "of" lines; $(touch x)' },
    ];
    const bridge = await startBridge({
      claude: binary,
      script: [
        ...answers.map(({ question }) => asks(question, ['PostgreSQL', 'MariaDB'])),
        says('As you say.'),
      ],
    });
    const id = await bridge.start({ prompt: 'Choose.', path: bridge.project });
    for (const { question, answer } of answers) {
      const decision = await bridge.decision(id);
      expect(decision).toMatchObject({ kind: 'question', options: ['PostgreSQL', 'MariaDB'] });
      expect(decision.questions?.[0]).toMatchObject({ question });
      expect(
        await bridge.refusal('respond_to_task', {
          task_id: id,
          decision_id: decision.decision_id,
          verdict: 'allow',
        }),
      ).toMatch(/^INVALID_ARGUMENTS: .*PostgreSQL/);
      await bridge.respond(id, decision, { verdict: 'allow', answers: { [question]: answer } });
    }
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'As you say.' });
    const told = bridge.api.requests.flatMap((request) => request.toolResults);
    expect(told).toHaveLength(2);
    for (const [index, { answer }] of answers.entries()) expect(told[index]?.text).toContain(answer);
    expect(existsSync(join(bridge.project, 'x'))).toBe(false);
  });

  it('leaves plan mode without a plan, and with one', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [
        { tools: [{ name: 'EnterPlanMode', input: {} }] },
        { tools: [{ name: 'ExitPlanMode', input: {} }] },
        runs('touch without-plan.txt'),
        { tools: [{ name: 'EnterPlanMode', input: {} }] },
        { tools: [{ name: 'ExitPlanMode', input: { plan: '1. Touch it.' } }] },
        runs('touch with-plan.txt'),
        says('Carried out.'),
      ],
    });
    const id = await bridge.start({ prompt: 'Plan it.', path: bridge.project });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Carried out.' });
    for (const made of ['without-plan.txt', 'with-plan.txt'])
      expect(existsSync(join(bridge.project, made)), made).toBe(true);
    const closed = await bridge.events(id, 'decision-closed');
    expect(closed.filter(({ kind }) => kind === 'plan')).toMatchObject([
      { verdict: 'allow', answered_by: 'rule' },
      { verdict: 'allow', answered_by: 'rule' },
    ]);
  });

  it('trusts the folder and uses its servers by rule in mode auto', async () => {
    const bridge = await startBridge({ claude: binary, trusted: false, script: [says('Trusted.')] });
    await nameServer(bridge);
    const id = await bridge.start({ prompt: 'Hello.', path: bridge.project });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Trusted.' });
    expect(await bridge.events(id, 'decision-closed')).toMatchObject([
      { tool: 'trust-folder', verdict: 'allow', answered_by: 'rule' },
      { tool: 'project-mcp-server', verdict: 'allow', answered_by: 'rule' },
    ]);
  });

  it.each([
    { verdict: 'allow', status: 'completed', last: /^Trusted\.$/ },
    { verdict: 'deny', status: 'failed', last: /./ },
  ])(
    'asks in mode cautious whether the folder is trusted, and uses none of its servers: $verdict',
    async ({ verdict, status, last }) => {
      const bridge = await startBridge({ claude: binary, trusted: false, script: [says('Trusted.')] });
      await nameServer(bridge);
      const id = await bridge.start({ prompt: 'Hello.', path: bridge.project, permission_mode: 'cautious' });
      const decision = await bridge.answerNext(id, { verdict });
      expect(decision).toMatchObject({ kind: 'trust', tool: 'trust-folder' });
      expect(decision.summary).toContain(bridge.project);
      const end = await bridge.end(id);
      expect(end.status).toBe(status);
      expect(end.last_output).toMatch(last);
      if (verdict === 'deny') {
        expect(end.reason).toMatch(/trust/i);
        expect(bridge.api.turnsServed).toBe(0);
      }
    },
  );
});

// What the bridge does by itself, whichever CLI it is.
describeNewestClaude('a task for the newest CLI', ({ binary }) => {
  it('two tasks run in two projects at once', async () => {
    const bridge = await startBridge({
      claude: binary,
      projects: ['one', 'two'],
      script: (request) =>
        request.toolResults.length === 0 ? runs('basename "$PWD" > here.txt') : says('Done here.'),
    });
    const [one = '', two = ''] = bridge.projects;
    const overrides = { prompt: 'Say where.', permission_mode: 'cautious' };
    const ids = [
      await bridge.start({ ...overrides, path: one }),
      await bridge.start({ ...overrides, path: two }),
    ];
    for (const id of ids) await bridge.decision(id);
    expect(JSON.parse(await bridge.mcp.readResource('tasks://active'))).toMatchObject({
      tasks: [{ status: 'waiting' }, { status: 'waiting' }],
    });
    for (const id of ids) await bridge.answerNext(id, { verdict: 'allow' });
    for (const id of ids) expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect(await readFile(join(one, 'here.txt'), 'utf8')).toBe('one\n');
    expect(await readFile(join(two, 'here.txt'), 'utf8')).toBe('two\n');
  });
});

/** An MCP server of the project, about which the CLI asks. */
async function nameServer({ project }: TestBridge): Promise<void> {
  const servers = { mcpServers: { foo: { command: '/nowhere/foo' } } };
  await writeFile(join(project, '.mcp.json'), JSON.stringify(servers));
}
