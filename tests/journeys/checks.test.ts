// docs/checks.md with the real Claude Code: checks that the bridge runs when the agent says that it is done, and in a clean copy.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { attach } from '../harness/attached-terminal.js';
import { gitIn, repository, writeFiles } from '../harness/project-files.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runs, says } from '../harness/scripted-turns.js';
import { serverEntry, sharedBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';
import { ScriptedModel } from './scripted-model.js';

const BRIEF = {
  goal: 'A file with forty-two',
  decided: ['No database'],
  constraints: ['One line'],
  files: ['answer.txt'],
};
const ANSWER = { name: 'answer', command: 'grep -qx 42 answer.txt' };
const SUM_TESTS = {
  name: 'unit',
  command: 'for t in *.test.sh; do sh "$t" || exit 1; done',
  tests: ['*.test.sh'],
  each: 'sh {file}',
};

describeNewestClaude('the checks of a task', ({ binary }) => {
  const model = new ScriptedModel();
  const bridge = sharedBridge({
    claude: binary,
    script: model.script,
    env: { MCP_TOOLSETS: 'tasks,checks' },
  });
  const result = (task_id: string) => bridge().call('get_task_result', { task_id });

  afterEach(() => bridge().killAll());

  test('run when the agent says that it is done, and say by exit codes whether it is', async () => {
    const path = await bridge().newProject('checked');
    model.does(runs('echo 41 > answer.txt'), says('All checks pass.'));
    const checks = [
      ANSWER,
      { name: 'there', command: 'cat answer.txt' },
      { name: 'typo', command: 'no-such-program' },
      { name: 'slow', command: 'sleep 100 & sleep 100', timeout_seconds: 1 },
    ];
    const id = await bridge().start({ path, prompt: 'Write the answer.', brief: BRIEF, checks });
    expect(await bridge().end(id)).toMatchObject({ status: 'completed' });
    const found = await result(id);
    expect(found).toMatchObject({
      brief: BRIEF,
      checks: {
        summary: '1 of 4 checks met',
        results: [
          { name: 'answer', verdict: 'not met', why: 'exit code 1' },
          { name: 'there', verdict: 'met' },
          { name: 'typo', verdict: 'not run', why: 'the shell did not find the command (exit code 127)' },
          { name: 'slow', verdict: 'not met', why: 'it ran longer than 1 s and was ended' },
        ],
      },
    });
    expect(Object.keys(found)[0]).toBe('checks');
    expect(await bridge().refusal('verify_task', { task_id: id })).toMatch(
      /^NOT_A_REPOSITORY: .* no clean copy\.$/s,
    );
    expect(model.requests[0]?.userText).toContain('Goal: A file with forty-two');
    expect(model.requests[0]?.userText).toContain('- answer: grep -qx 42 answer.txt');
    expect(await bridge().refusal('start_task', { path, prompt: 'x', checks: [ANSWER, ANSWER] })).toMatch(
      /^INVALID_ARGUMENTS: .*two checks have the name "answer"/,
    );
    for (const [wrong, words] of [
      [{ brief: { gaol: 'x' } }, /: unknown argument "brief\.gaol"\./],
      [{ checks: [{ ...ANSWER, limit: 1 }] }, /: unknown argument "checks\[0\]\.limit"\./],
      [{ until_met: 11 }, /: until_met must be an integer from 0 to 10 \(got 11\)/],
    ] as const)
      expect(await bridge().refusal('start_task', { path, prompt: 'x', ...wrong })).toMatch(words);
  });

  test('that the end of their task cut off say so', async () => {
    const path = await bridge().newProject('cut-off');
    model.does(says('Done.'));
    const checks = [{ name: 'slow', command: 'touch begun; sleep 300' }, ANSWER];
    const id = await bridge().start({ path, prompt: 'Nothing.', checks });
    await until('it is checked', () => existsSync(join(path, 'begun')));
    await bridge().call('kill_task', { task_id: id });
    expect(await bridge().end(id)).toMatchObject({
      reason: expect.stringMatching(/; 0 of 2 checks met\.$/) as string,
    });
    const why = 'the task ended first';
    expect(await result(id)).toMatchObject({ checks: { results: [{ why }, { why }] } });
  });

  test('what is not met goes back to the session, until it is met', async () => {
    const path = await bridge().newProject('mended');
    model.does(runs('echo 41 > answer.txt'), says('Done.'), runs('echo 42 > answer.txt'), says('Mended.'));
    const id = await bridge().start({ path, prompt: 'Write it.', checks: [ANSWER], until_met: 3 });
    expect(await bridge().end(id)).toMatchObject({ reason: 'The agent finished its work; 1 check met.' });
    expect(await result(id)).toMatchObject({ checks: { summary: '1 check met', rounds: 1 } });
    const sent = model.requests.map(({ userText }) => userText).join('\n');
    expect(sent).toContain('1 check not met after your last turn.');
    expect(sent).toContain('$ grep -qx 42 answer.txt');
  });

  test('nothing goes back twice for the same failure of the same files', async () => {
    const path = await bridge().newProject('stuck');
    await repository(path, { 'answer.txt': '41\n' });
    model.does(says('Done.'), says('Still done.'), says('Really.'));
    const id = await bridge().start({ path, prompt: 'Write it.', checks: [ANSWER], until_met: 10 });
    await bridge().end(id);
    expect(await result(id)).toMatchObject({
      checks: {
        summary: '0 of 1 check met',
        rounds: 1,
        stopped: 'the same checks failed again, and no file had changed',
      },
    });
  });

  test('an agent that changes what checks it is named with the files', async () => {
    const path = await bridge().newProject('cheated');
    await repository(path, { 'sum.sh': 'echo 4\n', 'sum.test.sh': '[ "$(sh sum.sh)" = 5 ]\n' });
    model.does(says('Done.'), runs('echo true > sum.test.sh'), says('Mended.'));
    const checks = [{ name: 'unit', command: 'sh sum.test.sh', tests: ['*.test.sh'] }];
    const id = await bridge().start({ path, prompt: 'Mend it.', checks, until_met: 3 });
    await bridge().end(id);
    expect(await result(id)).toMatchObject({
      checks: { summary: '1 check met', rounds: 1, own_files_changed: ['sum.test.sh'] },
    });
  });

  test('work that is not met is merged only by who says so, and the merge says it', async () => {
    const path = await bridge().newProject('unmet');
    await repository(path, { 'answer.txt': '40\n' });
    model.does(runs('echo 41 > answer.txt'), says('All checks pass.'));
    const words = ['run', '--worktree', '--check', `answer: ${ANSWER.command}`, 'Write the answer.'];
    const ran = await bridge().command(words, { cwd: path });
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.out).toContain('\nchecks: 0 of 1 check met\n  answer: not met, exit code 1\n');
    const [task_id = ''] = /task_[0-9a-f]{20}/.exec(ran.out) ?? [];
    expect(await bridge().call('list_tasks', { path })).toMatchObject({
      tasks: [{ task_id, checks: '0 of 1 check met' }],
    });
    const finish = { task_id, action: 'merge', reviewed: 'not asked for' };
    const refused = '0 of 1 check met: answer: not met, exit code 1.';
    expect(await bridge().refusal('finish_task', finish)).toContain(`INVALID_ARGUMENTS: ${refused}`);
    const alone = await bridge().command(['tasks', 'finish', task_id, 'merge']);
    expect(alone).toMatchObject({ code: 64, err: expect.stringContaining(refused) as string });
    const person = await attach(bridge(), { command: 'tasks', args: ['finish', task_id, 'merge'] });
    await person.sees(refused);
    await person.sees('Do you want to merge now?');
    person.type('n');
    await person.sees('Nothing was changed.');
    expect(gitIn(path, 'log', '--format=%s').trim().split('\n')).toHaveLength(1);
    const merged = await bridge().command(['tasks', 'finish', task_id, 'merge', '--anyway']);
    expect(merged).toMatchObject({ code: 0 });
    expect(gitIn(path, 'log', '-1', '--format=%B').trim()).toMatch(
      /^Merge branch '.*' into .*\n\nChecks not met: answer \(exit code 1\)$/,
    );
  });

  test('in a worktree have what was installed in its project, and count for what they ran on', async () => {
    const path = await bridge().newProject('apart');
    await repository(path, { '.gitignore': 'node_modules/\n' });
    await writeFiles(path, { 'node_modules/x.txt': '' });
    const command = `[ -e node_modules/x.txt ] && touch ${path}-begun; while [ -e ${path}-hold ]; do sleep 0.1; done; grep -qx 42 answer.txt`;
    model.does(runs('echo 42 > answer.txt'), says('Done.'), runs('echo more > more.txt'), says('Done.'));
    const checks = [{ name: 'answer', command }];
    const apart = { path, prompt: 'Write.', brief: BRIEF, checks, on_conflict: 'always_worktree' };
    const id = await bridge().start(apart);
    await bridge().end(id);
    expect(await result(id)).toMatchObject({ checks: { summary: '1 check met', linked: ['node_modules'] } });
    const worktree = join(path, '.claude', 'worktrees', id);
    expect((await readdir(worktree)).sort()).toEqual(['.git', '.gitignore', 'answer.txt']);

    const next = await bridge().start({ prompt: 'More.', continue_from: id, brief: { goal: 'More' } });
    await bridge().end(next);
    expect(await result(next)).toMatchObject({ brief: { ...BRIEF, goal: 'More' } });
    expect(await bridge().call('verify_task', { task_id: next })).toMatchObject({
      checks: { summary: '1 check met' },
      linked: ['node_modules'],
    });

    await writeFiles(worktree, { 'later.txt': 'later\n' });
    const { reviewed } = await result(id);
    const finish = { task_id: id, action: 'merge', reviewed };
    expect(await bridge().refusal('finish_task', finish)).toMatch(/it was met on another state/);

    await rm(`${path}-begun`);
    await writeFile(`${path}-hold`, '');
    const verifying = bridge().call('verify_task', { task_id: id });
    await until('it is verified', () => existsSync(`${path}-begun`));
    expect(await bridge().refusal('finish_task', { ...finish, anyway: true })).toMatch(
      /^TASK_ALREADY_RUNNING: The checks of .* are run in a clean copy/,
    );
    expect(await bridge().command(['tasks', 'rm', id, '--force'])).toMatchObject({
      err: expect.stringContaining('are run in a clean copy') as string,
    });
    await rm(`${path}-hold`);
    expect(await verifying).toMatchObject({ checks: { summary: '1 check met' } });
    await bridge().call('finish_task', { ...finish, anyway: true });
    expect(gitIn(path, 'log', '-1', '--format=%B')).toContain('Checks not met: answer (not run: it was met');
    expect(await bridge().call('verify_task', { task_id: next })).toMatchObject({
      checks: { summary: '1 check met' },
    });
  });

  test('in mode cautious run only when a person allows them', async () => {
    const path = await bridge().newProject('careful');
    model.does(says('Done.'));
    const checks = [{ name: 'made', command: 'touch made.txt' }];
    const id = await bridge().start({ path, prompt: 'Nothing.', permission_mode: 'cautious', checks });
    const decision = await bridge().decision(id);
    const { decisions } = await bridge().call('get_task_status', { task_id: id });
    expect(decisions).toMatchObject([
      {
        tool: 'Checks',
        request: { '1 made': 'touch made.txt' },
        why: expect.stringContaining('A check runs whatever the agent has written.') as string,
      },
    ]);
    expect(await result(id)).toMatchObject({ checks: { results: [{ why: 'it has not run yet' }] } });
    const answer = { task_id: id, decision_id: decision.decision_id, verdict: 'allow' };
    expect(await bridge().refusal('respond_to_task', answer)).toMatch(/can be allowed by a person alone/);
    expect(existsSync(join(path, 'made.txt'))).toBe(false);
    await bridge().command(['tasks', 'answer', id, decision.decision_id, 'allow']);
    await bridge().end(id);
    expect(existsSync(join(path, 'made.txt'))).toBe(true);
    expect(await result(id)).toMatchObject({ checks: { summary: '1 check met' } });

    model.does(says('Done.'));
    const cut = await bridge().start({ path, prompt: 'Nothing.', permission_mode: 'cautious', checks });
    await bridge().decision(cut);
    await bridge().call('kill_task', { task_id: cut });
    await bridge().end(cut);
    expect(await result(cut)).toMatchObject({ checks: { results: [{ why: 'the task ended first' }] } });
  });

  test('in mode cautious run in a clean copy only when a person allows them', async () => {
    const path = await bridge().newProject('careful');
    await repository(path, { 'a.txt': 'a\n' });
    model.does(says('Done.'));
    const checks = [{ name: 'unit', command: 'grep -q b a.txt' }];
    const id = await bridge().start({ path, prompt: 'Nothing.', permission_mode: 'cautious', checks });
    await bridge().decision(id);
    await writeFiles(path, { 'a.txt': 'b\n' });
    await bridge().call('kill_task', { task_id: id });
    const found = await bridge().call('verify_task', { task_id: id });
    expect(found).toMatchObject({
      checks: { summary: '0 of 1 check met', results: [{ verdict: 'not run' }] },
    });
    expect(found.message).toContain(`A person has to allow these checks`);
    const person = await attach(bridge(), { command: 'tasks', args: ['verify', id] });
    await person.sees('A check runs whatever the agent has written.');
    await person.sees('Do you want to run these checks?');
    person.type('y');
    await person.sees('checks: 1 check met');
  });

  test('in a clean copy new tests fail on the old code and pass on the new', async () => {
    const path = await bridge().newProject('verified');
    await repository(path, {
      'sum.sh': 'echo $(($1 - $2))\n',
      'old.test.sh': '[ "$(sh sum.sh 2 0)" = 2 ]\n',
    });
    model.does(
      runs("echo 'echo $(($1 + $2))' > sum.sh"),
      runs(
        `echo '[ "$(sh sum.sh 2 3)" = 5 ]' > new.test.sh; echo true > hollow.test.sh; git mv old.test.sh kept.test.sh`,
      ),
      says('All tests pass.'),
    );
    const id = await bridge().start({
      path,
      prompt: 'Mend it.',
      brief: { files: ['sum.sh', '*.test.sh'] },
      checks: [SUM_TESTS],
    });
    await bridge().end(id);
    const before = await readdir(path);
    const found = await bridge().call('verify_task', { task_id: id });
    expect(found).toMatchObject({
      checks: { summary: '1 check met' },
      tests: expect.arrayContaining([
        { check: 'unit', file: 'new.test.sh', after: 'met', before: 'not met', red_before: true },
        { check: 'unit', file: 'hollow.test.sh', after: 'met', before: 'met', red_before: false },
        { check: 'unit', file: 'kept.test.sh', moved: true, after: 'met', before: 'met', red_before: false },
      ]) as unknown,
    });
    expect(found.message).toContain('Alarm: on the old code these pass, too: hollow.test.sh.');
    const verified = await bridge().command(['tasks', 'verify', id]);
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('hollow.test.sh') as string });
    expect(found).not.toHaveProperty('outside_brief');
    expect(await readdir(path)).toEqual(before);
    expect(gitIn(path, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
  });

  test('end with the process that runs them, also when that is killed', async () => {
    const path = await bridge().newProject('killed');
    await repository(path, { 'a.txt': 'a\n' });
    model.does(runs('echo b > a.txt'), says('Done.'));
    const checks = [{ name: 'slow', command: `case $PWD in */after) touch ${path}-begun; sleep 300;; esac` }];
    const id = await bridge().start({ path, prompt: 'Write.', checks });
    await bridge().end(id);
    const verifying = spawn(process.execPath, [serverEntry, 'tasks', 'verify', id], {
      ...{ cwd: path, env: bridge().env },
    });
    await until('it is verified', () => existsSync(`${path}-begun`));
    verifying.kill('SIGKILL');
    await bridge().onlyServer();
  });
});
