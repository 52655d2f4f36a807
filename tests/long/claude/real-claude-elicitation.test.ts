import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

describeNewestClaude('a person at a client that shows forms', ({ binary }) => {
  it('answers whatever a session asks: folder, questions, plan, command', async () => {
    const shown: string[] = [];
    const bridge = await startBridge({
      claude: binary,
      trusted: false,
      script: () => {
        const turns = [
          asks('Which one?', ['This', 'That']),
          asks('Which of them?', ['Red', 'Blue', 'Green'], { multiSelect: true }),
          { tools: [{ name: 'EnterPlanMode', input: {} }] },
          { tools: [{ name: 'ExitPlanMode', input: {} }] },
          { tools: [{ name: 'Write', input: { file_path: join(bridge.project, 'plan.txt'), content: '' } }] },
          runs('git init allowed'),
          says('All answered.'),
        ];
        return turns[bridge.api.turnsServed - 1] ?? says('No more.');
      },
      person: ({ message, fields }) => {
        shown.push([message.replace(/ \(task in [^)]*\)/, '').split('\n')[0], ...fields].join(' | '));
        const [field = ''] = fields;
        if (field.startsWith('1_')) return { [field]: shown.length === 2 ? 'That' : 'Red, Green' };
        if (fields.includes('mode')) return { mode: 'acceptEdits' };
        return message.includes('Trust') || message.includes('git init allowed') ? {} : 'decline';
      },
    });
    const id = await bridge.start({ prompt: 'Ask.', permission_mode: 'cautious' });
    // As a model waits: a form is shown in a call.
    await until('its end', async () =>
      expect(await bridge.call('wait_for_task', { task_ids: [id] })).toMatchObject({
        tasks: [{ status: 'completed' }],
      }),
    );
    expect(await bridge.status(id)).toMatchObject({ last_output: 'All answered.' });
    const forms = [
      `Claude Code asks to go on: Trust the folder ${bridge.project}`,
      expect.stringMatching(/^Claude Code asks \| (1_\w+) \| \1_something_else$/),
      expect.stringMatching(/^Claude Code asks \| (1_\w+) \| \1_something_else$/),
      'Claude Code asks to go on: ExitPlanMode | mode',
      'Claude Code asks to go on: Bash',
    ];
    expect(shown).toEqual(forms);
    expect(bridge.told().join('\n')).toMatch(/That[^]*Red, Green/);
    expect(bridge.has('allowed')).toBe(true);
    const closed = await bridge.events(id, 'decision-closed');
    // The plan had no text, and its mode counts all the same: what it then wrote was not asked about.
    expect(closed.map(({ answered_by }) => answered_by)).toEqual(forms.map(() => 'elicitation'));
  });

  it.each(['legacy', 'modern'] as const)('is asked also what arises under ask (%s era)', async (era) => {
    const bridge = await startBridge({
      claude: binary,
      era,
      env: { MCP_TOOLSETS: 'all' },
      script: [runs('echo hi > hello.txt'), runs('touch never.txt'), says('One of two.')],
      person: ({ message }) => (message.includes('never') ? 'decline' : {}),
    });
    const answer = await bridge.call('ask', {
      prompt: 'Both.',
      workingDirectory: bridge.project,
      permissionMode: 'cautious',
    });
    expect(answer).toMatchObject({ status: 'completed', text: 'One of two.' });
    expect(await bridge.read('hello.txt')).toBe('hi\n');
    expect(bridge.has('never.txt')).toBe(false);
    // One question, however often its call came again.
    expect((await bridge.call('ask_status'))['questions']).toHaveLength(1);
  });

  it('who closes the form leaves the decision to the model', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [runs('echo hi > hello.txt'), says('Done.')],
      person: () => undefined,
    });
    const id = await bridge.start({ prompt: 'Write.', driver: 'print', permission_mode: 'cautious' });
    await bridge.answerNext(id, { verdict: 'allow' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
  });
});
