// docs/checks.md with the real Claude Code: checks that the bridge runs when the agent says that it is done.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { gitIn, repository } from '../harness/project-files.js';
import { describeNewestClaude } from '../harness/real-claude.js';
import { runs, says } from '../harness/scripted-turns.js';
import { sharedBridge } from '../harness/start-bridge.js';
import { ScriptedModel } from './scripted-model.js';

const BRIEF = {
  goal: 'A file with forty-two',
  decided: ['No database'],
  constraints: ['One line'],
  files: ['answer.txt'],
};
const ANSWER = { name: 'answer', command: 'grep -qx 42 answer.txt' };

describeNewestClaude('the checks of a task', ({ binary }) => {
  const model = new ScriptedModel();
  const bridge = sharedBridge({ claude: binary, script: model.script });

  afterEach(() => bridge().killAll());

  test('run when the agent says that it is done, and say by exit codes whether it is', async () => {
    const path = await bridge().newProject('checked');
    model.does(runs('echo 41 > answer.txt'), says('All checks pass.'));
    const checks = [
      ANSWER,
      { name: 'there', command: 'cat answer.txt' },
      { name: 'typo', command: 'no-such-program' },
    ];
    const id = await bridge().start({ path, prompt: 'Write the answer.', brief: BRIEF, checks });
    const end = await bridge().end(id);
    expect(end).toMatchObject({ status: 'completed' });
    const result = await bridge().call('get_task_result', { task_id: id });
    expect(result).toMatchObject({
      brief: BRIEF,
      checks: {
        summary: '1 of 3 checks met',
        results: [
          { name: 'answer', verdict: 'not met', why: 'exit code 1' },
          { name: 'there', verdict: 'met' },
          { name: 'typo', verdict: 'not run', why: expect.stringContaining('did not find') as string },
        ],
      },
    });
    expect(Object.keys(result)[0]).toBe('checks');
    expect(model.told.join('\n')).toContain('Goal: A file with forty-two');
    expect(model.told.join('\n')).toContain('answer: grep -qx 42 answer.txt');
  });

  test('what is not met goes back, until it is met or nothing changes any more', async () => {
    const path = await bridge().newProject('mended');
    model.does(runs('echo 41 > answer.txt'), says('Done.'), runs('echo 42 > answer.txt'), says('Mended.'));
    const id = await bridge().start({ path, prompt: 'Write the answer.', checks: [ANSWER], until_met: 3 });
    await bridge().end(id);
    expect(await bridge().call('get_task_result', { task_id: id })).toMatchObject({
      checks: { summary: '1 check met', rounds: 1 },
    });
    expect(model.told.join('\n')).toContain('$ grep -qx 42 answer.txt');
  });
});
