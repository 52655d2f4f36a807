import { expect, it } from 'vitest';
import type { ScriptedTurn } from '../../../src/cli/demo/scripted-api.js';
import {
  callersServers,
  chatCaller,
  decide,
  DOWN,
  ENTER,
  ESC,
  CallerModel,
  START_TASK,
  starts,
} from '../../harness/chat-caller.js';
import { describeRealClaude } from '../../harness/real-claude.js';
import { program } from '../../harness/scripted-agent.js';
import { runs, says, thinksForEver } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

/** A caller whose model delegates whenever it is asked to, to the real Claude Code; its task works as `work` says. */
async function delegating(binary: string, work: ScriptedTurn[], more: Record<string, unknown> = {}) {
  /** What the task's model read of commands that did not run. */
  const denied: string[] = [];
  const model = new CallerModel(
    ({ userText }) => {
      if (!userText.includes('Delegate this.')) return undefined;
      const input = { path: bridge.project, prompt: 'Fix it.', ...more };
      return { tools: [{ name: START_TASK, input }] };
    },
    ({ toolResults }) => {
      denied.push(...toolResults.filter(({ isError }) => isError).map(({ text }) => text));
      return work.shift() ?? says('The end.');
    },
  );
  const bridge = await startBridge({ claude: binary, projects: ['app', 'desk'], script: model.script });
  return { bridge, model, denied };
}

describeRealClaude('Claude Code as the caller, in a terminal', ({ binary }) => {
  it('is called back at the end, and its person answers two questions by keys', async () => {
    const work = [runs('node test.js || ls'), runs('node test.js; echo done'), says('Both tests pass now.')];
    const { bridge, model, denied } = await delegating(binary, work, { permission_mode: 'cautious' });
    const terminal = await chatCaller(bridge, binary);
    await model.prompt(terminal);
    await terminal.sees('Bash: command: node test.js || ls');
    await decide(terminal, 'Allow once');
    await terminal.sees('Bash: command: node test.js; echo done');
    terminal.type(ESC);
    await terminal.sees('needs your input');
    terminal.type(DOWN);
    terminal.type(ENTER);
    terminal.type(ENTER);
    await decide(terminal, 'Deny', { down: 2, why: 'use make instead' });
    await until('the end is heard', () => model.words.includes('Both tests pass now.'));
    expect(model.asked).toBe(3);
    expect(denied).toEqual(['use make instead']);
  });

  it('is called by the next server when its own was killed, and in a resumed chat; once each time', async () => {
    const work: ScriptedTurn[] = [{ say: 'Mended.', delayMs: 6_000 }];
    const { bridge, model } = await delegating(binary, work);
    const first = await chatCaller(bridge, binary);
    await model.prompt(first);
    await until('the task is started', () => model.asked === 2);
    for (const pid of await callersServers(bridge)) process.kill(pid, 'SIGKILL');
    first.type('/mcp reconnect claude-code-bridge');
    await first.sees('/mcp reconnect claude-code-bridge');
    first.type(ENTER);
    await until('the first end is heard', () => model.ends.size === 1);

    work.push({ say: 'Mended again.', delayMs: 8_000 });
    await model.prompt(first);
    await first.sees('1 MCP task still running');
    await first.leave();
    await until('the task ends while its client is away', async () =>
      expect(await bridge.ids({ status: 'active' })).toEqual([]),
    );
    await chatCaller(bridge, binary, '--continue');
    await until('the second end is heard', () => model.ends.size === 2);
    expect([...model.ends.values()].map(({ length }) => length)).toEqual([1, 1]);
  });

  it('ends the task that its person stops, with a reason that blames no person', async () => {
    const { bridge, model } = await delegating(binary, [thinksForEver]);
    const terminal = await chatCaller(bridge, binary);
    await model.prompt(terminal);
    await terminal.sees('1 MCP task');
    terminal.type(DOWN);
    await terminal.sees(/MCP task|running/u);
    terminal.type(ENTER);
    await terminal.sees('Status:');
    terminal.type('x');
    const [id = ''] = await bridge.ids();
    const end = await bridge.end(id);
    expect(end).toMatchObject({ status: 'killed', reason: 'Cancelled from the chat.' });
  });

  it('gets a plain answer for a call of its subagent, which declares no Tasks, and follows the next task itself', async () => {
    const helper = { description: 'a helper', prompt: 'Start it.', subagent_type: 'general-purpose' };
    const answers: string[] = [];
    const model = new CallerModel(({ userText, toolResults }) => {
      answers.push(...toolResults.map(({ text }) => text));
      const start = (path = '') => starts(() => 'AGENT: ends', [path]);
      if (model.asked === 1) return { tools: [{ name: 'Agent', input: helper }] };
      // The subagent goes on beside the conversation.
      if (userText.endsWith('Start it.')) return start(bridge.projects[0]);
      return answers.length === 1 && toolResults.length === 1 ? start(bridge.projects[1]) : undefined;
    });
    const bridge = await startBridge({
      claude: program('worker', 'sleep 2'),
      projects: ['first', 'second', 'desk'],
      script: model.script,
    });
    await model.prompt(await chatCaller(bridge, binary));
    await until(
      'the end is heard, and both have their answers',
      () => model.ends.size === 1 && answers.length === 3,
    );
    expect(answers.filter((text) => text.includes('Call wait_for_task'))).toHaveLength(1);
    expect(answers.filter((text) => text.includes('started server-side task'))).toHaveLength(1);
  });
});
