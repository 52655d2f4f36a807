// README.md and docs/guide.md with the real Claude Code: the permission modes, a person's rules, the drivers, the receipt.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { rulesContract } from '../../src/cli/rules-contract.js';
import { gitIn, repository, writeFiles } from '../harness/project-files.js';
import { describeWith } from '../harness/needs.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { asks, runs, says } from '../harness/scripted-turns.js';
import { sharedBridge, type TestBridge } from '../harness/start-bridge.js';
import { ScriptedModel } from './scripted-model.js';

const RULES = [
  { rule: 'Bash(touch *)', verdict: 'deny', reason: 'Files are made with the Write tool here.' },
  { rule: 'Read(private.txt)', verdict: 'deny', reason: 'That file is private.' },
  { rule: 'Bash(mkdir *)', verdict: 'allow', reason: 'Folders do no harm.' },
] as const;

/** What was decided, by whom, in order. */
async function closed(bridge: TestBridge, id: string): Promise<string[]> {
  const events = await bridge.events(id, 'decision-closed');
  return events.map(({ tool, verdict, answered_by }) => [tool, verdict, answered_by].join(' '));
}

const writes = (file_path: string, content: string) => ({
  tools: [{ name: 'Write', input: { file_path, content } }],
});

describeNewestClaude('a task of Claude Code', ({ version, binary }) => {
  const model = new ScriptedModel();
  const bridge = sharedBridge({
    claude: binary,
    script: model.script,
    env: { MCP_RULES: JSON.stringify(RULES) },
  });

  afterEach(() => bridge().killAll());

  test('in mode auto does what no rule denies without a question, and passes on what the model asks', async () => {
    const path = await bridge().newProject('auto');
    const question = 'Which database should I use?';
    model.does(
      writes(join(path, 'made.txt'), 'by hand'),
      runs('cp made.txt copied.txt'),
      asks(question, ['PostgreSQL', 'MariaDB']),
      says('As you say.'),
    );
    const id = await bridge().start({ path, prompt: 'Make both, and choose.' });
    const decision = await bridge().decision(id);
    expect(decision).toMatchObject({ kind: 'question', options: ['PostgreSQL', 'MariaDB'] });
    expect(decision.questions?.[0]).toMatchObject({ question });
    const answer = { task_id: id, decision_id: decision.decision_id, verdict: 'allow' };
    expect(await bridge().refusal('respond_to_task', answer)).toMatch(/^INVALID_ARGUMENTS: .*PostgreSQL/);
    await bridge().respond(id, decision, {
      verdict: 'allow',
      answers: { [question]: 'A file "of" lines; $(touch x)' },
    });
    const end = await bridge().end(id);
    expect(end).toMatchObject({ status: 'completed', last_output: 'As you say.' });
    expect(end.files_changed).toEqual([join(path, 'made.txt')]);
    expect(await readFile(join(path, 'copied.txt'), 'utf8')).toBe('by hand');
    expect(model.told.at(-1)).toContain('A file "of" lines; $(touch x)');
    expect(await closed(bridge(), id)).toEqual(['AskUserQuestion allow caller']);
    expect(JSON.parse(await bridge().mcp.readResource(`tasks://${id}`))).toMatchObject({
      cli_version: version,
      turns: 1,
    });
  });

  test('in mode cautious asks about each command and plan; what is allowed is done, and of what is denied the model is told why', async () => {
    const path = await bridge().newProject('cautious');
    model.does(
      runs('echo hi > hello.txt', 'I will.'),
      runs('echo no > never.txt'),
      { tools: [{ name: 'EnterPlanMode', input: {} }] },
      { tools: [{ name: 'ExitPlanMode', input: { plan: '1. Touch it.' } }] },
      says('Then I stop.'),
    );
    const chosen = 'claude-haiku-4-5-20251001';
    const id = await bridge().start({ path, prompt: 'Go.', permission_mode: 'cautious', model: chosen });
    const allowed = await bridge().answerNext(id, { verdict: 'allow' });
    expect(allowed).toMatchObject({ kind: 'permission', tool: 'Bash' });
    expect(allowed.summary).toContain('echo hi > hello.txt');
    await bridge().answerNext(id, { verdict: 'deny', message: 'Not in this house.' });
    expect(await bridge().answerNext(id, { verdict: 'deny', message: 'Too bold.' })).toMatchObject({
      kind: 'plan',
      tool: 'ExitPlanMode',
    });
    expect(await bridge().end(id)).toMatchObject({
      status: 'completed',
      exit_code: 0,
      last_output: 'Then I stop.',
    });
    expect(await readFile(join(path, 'hello.txt'), 'utf8')).toBe('hi\n');
    expect(existsSync(join(path, 'never.txt'))).toBe(false);
    expect(model.told[1]).toContain('Not in this house.');
    expect(model.told[3]).toContain('Too bold.');
    expect(model.requests[0]?.model).toBe(chosen);
  });

  describeWith('shells', 'in a sandbox', () => {
    test('runs its commands without a question, which reach neither secrets nor what runs later nor the world outside; what is to run outside is asked', async () => {
      const path = await bridge().newProject('sandboxed');
      const { homeDir } = bridge().workplace;
      await writeFiles(path, { '.env': 'LEAKED', 'CLAUDE.md': 'as it was' });
      await writeFiles(homeDir, { '.aws/credentials': 'LEAKED' });
      const outside = {
        command: 'echo no > "$HOME/denied"',
        description: 'x',
        dangerouslyDisableSandbox: true,
      };
      model.does(
        runs('echo made > made.txt; cat .env "$HOME/.aws/credentials"; echo read'),
        runs('echo planted > CLAUDE.md; echo planted > "$HOME/outside"; echo written'),
        runs('env; echo told'),
        { tools: [{ name: 'Bash', input: outside }] },
        says('All done.'),
      );
      const id = await bridge().start({ path, prompt: 'Go.', permission_mode: 'sandboxed', driver: 'print' });
      const asked = await bridge().answerNext(id, { verdict: 'deny' });
      expect(asked.summary).toContain('Bash, outside of the sandbox(echo no > "$HOME/denied")');
      expect(await bridge().end(id)).toMatchObject({ status: 'completed', last_output: 'All done.' });
      const [read, written, told] = model.told;
      expect(await readFile(join(path, 'made.txt'), 'utf8')).toBe('made\n');
      expect(read).toMatch(/denied[^]*read/);
      expect(read).not.toContain('LEAKED');
      expect(written).toContain('written');
      expect(await readFile(join(path, 'CLAUDE.md'), 'utf8')).toBe('as it was');
      expect(['outside', 'denied'].filter((name) => existsSync(join(homeDir, name)))).toEqual([]);
      expect(told).toContain('told');
      expect(told).not.toMatch(/ANTHROPIC_API_KEY|HOOK_TOKEN=/);
    });
  });

  test('follows the rules of a person, in Claude Code’s own syntax: what they deny is not done, and the reason told; what they allow is not asked', async () => {
    const path = await bridge().newProject('rules');
    await writeFile(join(path, 'private.txt'), 'hidden words');
    model.does(
      runs('true && touch never.txt'),
      { tools: [{ name: 'Read', input: { file_path: join(path, 'private.txt') } }] },
      runs('mkdir made'),
      says('All done.'),
    );
    const id = await bridge().start({ path, prompt: 'Go.', permission_mode: 'cautious' });
    expect(await bridge().end(id)).toMatchObject({ status: 'completed', last_output: 'All done.' });
    expect(existsSync(join(path, 'never.txt'))).toBe(false);
    expect(existsSync(join(path, 'made'))).toBe(true);
    const denied = [
      { summary: 'Bash(true && touch never.txt)', by: 'rule', reason: 'denied by a rule of this task' },
      { summary: 'Read(private.txt)', by: 'rule', reason: 'denied by a rule of this task' },
    ];
    expect(await bridge().call('get_task_result', { task_id: id })).toMatchObject({
      receipt: { denials: denied },
    });
    const { text } = await bridge().output(id, 'log');
    for (const { summary, reason } of denied) expect(text).toContain(`✗ ${summary} failed: ${reason}\n`);
    expect(model.told.join('\n')).not.toContain('hidden words');
  });

  test('holds the rules of a task as the bridge relies on, and each tool that it offers is known to the bridge', async () => {
    const never = new AbortController().signal;
    expect(await rulesContract(binary, process.env['PATH'] ?? '', never)).toEqual([]);
  });

  test('over the print driver asks as over a terminal, and its log has what was said before a tool before that tool', async () => {
    const path = await bridge().newProject('print');
    const question = 'Which one?';
    model.does(
      runs('echo hi > hello.txt', 'I write it.'),
      asks(question, ['This', 'That']),
      says('One of two.'),
    );
    const overrides = { path, prompt: 'Both.', driver: 'print', permission_mode: 'cautious' };
    const id = await bridge().start(overrides);
    expect(await bridge().answerNext(id, { verdict: 'allow' })).toMatchObject({
      kind: 'permission',
      tool: 'Bash',
    });
    await bridge().answerNext(id, { verdict: 'allow', answers: { [question]: 'That' } });
    expect(await bridge().end(id)).toMatchObject({ status: 'completed', last_output: 'One of two.' });
    expect(await readFile(join(path, 'hello.txt'), 'utf8')).toBe('hi\n');
    expect(model.told[1]).toContain('That');
    expect((await bridge().output(id, 'log')).text).toMatch(
      /Claude: I write it\.\n[^]*▶ Bash\(echo hi > hello\.txt\)\n[^]*✓ Bash[^]*Claude: One of two\.\n/,
    );
  });

  test('has a receipt of what it did, apart from what was there before', async () => {
    const path = await bridge().newProject('receipt');
    await repository(path, { 'kept.txt': 'kept\n' });
    gitIn(path, 'config', 'user.name', 'N');
    gitIn(path, 'config', 'user.email', 'n@example.com');
    const before = gitIn(path, 'rev-parse', 'HEAD').trim();
    await writeFiles(path, { 'kept.txt': 'kept, and mine\n', 'mine.txt': 'mine\n' });
    model.does(
      writes(join(path, 'new.txt'), 'new\n'),
      runs('echo bad; exit 3'),
      runs('git add new.txt && git commit -q -m "adds new.txt"'),
      says('I created new.txt and committed it.'),
    );
    const id = await bridge().start({ path, prompt: 'Work.' });
    const end = await bridge().end(id);
    expect(end).toMatchObject({ status: 'completed' });
    expect(end.hint).toContain('get_task_result');
    const head = gitIn(path, 'rev-parse', 'HEAD').trim();
    expect(await bridge().call('get_task_result', { task_id: id })).toMatchObject({
      status: 'completed',
      receipt: {
        complete: true,
        final_message: 'I created new.txt and committed it.',
        turns: 1,
        exit_code: 0,
        commands: [
          { command: 'echo bad; exit 3', exit_code: 3, output: 'bad' },
          { command: 'git add new.txt && git commit -q -m "adds new.txt"', exit_code: 0 },
        ],
        commands_failed: 1,
        files: [{ path: 'new.txt', change: 'created' }],
        git: {
          state: 'repository',
          branch_before: 'main',
          head_before: before,
          head_after: head,
          commits: [{ commit: head, subject: 'adds new.txt' }],
          files: [{ path: 'new.txt', change: 'created', insertions: 1, deletions: 0 }],
          dirty_before: { count: 2, untouched: ['kept.txt', 'mine.txt'] },
        },
      },
    });
  });
});
