import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ScriptedRequest, ScriptedTurn } from '../../../src/cli/demo/messages-api.js';
import { attach, type AttachedTerminal } from '../../harness/attached-terminal.js';
import { commandOf } from '../../harness/marked-processes.js';
import { describeRealClaude } from '../../harness/real-claude.js';
import { runs, says, thinksForEver } from '../../harness/scripted-turns.js';
import { until } from '../../harness/until.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';

const PREFIX = 'mcp__claude-code-bridge__';
const listSchema = z.object({ tasks: z.array(z.looseObject({ task_id: z.string() })) });
const [RIGHT, DOWN, ENTER, ESC] = ['\u001B[C', '\u001B[B', '\r', '\u001B'];

/** The models of a caller and of its task: the caller delegates once, and says what it was called with. */
class Models {
  start: Record<string, unknown> = {};
  readonly calls: string[] = [];
  /** Requests to the caller's model that were no title. */
  readonly asked: ScriptedRequest[] = [];
  /** What the task's model read of commands that did not run. */
  readonly denied: string[] = [];
  /** Prompts that came before the caller had connected to the server. */
  tooEarly = 0;
  readonly work: ScriptedTurn[];

  constructor(work: readonly ScriptedTurn[]) {
    this.work = [...work];
  }

  readonly next = (request: ScriptedRequest): ScriptedTurn => {
    if (request.kind === 'side') return says('{"title":"A session"}');
    if (!request.toolNames.includes(`${PREFIX}start_task`)) {
      if (!request.userText.includes('Delegate this.')) return this.#works(request);
      this.tooEarly++;
      return says('There is no server yet.');
    }
    this.asked.push(request);
    const what = /<task-notification>/.exec(request.userText)?.[0] ?? 'nothing yet';
    if (this.calls.length > 0) return says(`Read: ${what}`);
    this.calls.push('start_task');
    return { tools: [{ name: `${PREFIX}start_task`, input: this.start }] };
  };

  #works({ toolResults }: ScriptedRequest): ScriptedTurn {
    this.denied.push(...toolResults.filter(({ isError }) => isError).map(({ text }) => text));
    return this.work.shift() ?? says('The end.');
  }
}

/** A person's Claude Code with this server, in a terminal. */
async function caller(bridge: TestBridge, binary: string, more = ''): Promise<AttachedTerminal> {
  const config = join(bridge.workplace.root, 'mcp.json');
  const server = { type: 'stdio', command: process.execPath, args: [serverEntry], env: bridge.env };
  await writeFile(config, JSON.stringify({ mcpServers: { 'claude-code-bridge': server } }));
  const flags = `${more} --mcp-config '${config}' --strict-mcp-config --permission-mode default --allowedTools ${PREFIX.slice(0, -2)}`;
  return attach(bridge, { shell: `exec '${binary}' ${flags}`, cwd: bridge.projects[1] ?? '' });
}

/** Chooses in the form of a decision, and sends it. */
async function decide(terminal: AttachedTerminal, choice: 'Yes, this once' | 'No', why = ''): Promise<void> {
  await terminal.sees('Your decision: ▸ not set');
  terminal.type(RIGHT);
  await terminal.sees('❯ ◯ Yes, this once');
  if (choice === 'No') {
    terminal.type(DOWN);
    await terminal.sees('❯ ◯ For this session');
    terminal.type(DOWN);
    await terminal.sees('❯ ◯ No');
  }
  terminal.type(ENTER);
  await terminal.sees(`✔ Your decision: ${choice}`);
  if (why !== '') {
    terminal.type(why);
    await terminal.sees(why);
  }
  terminal.type(DOWN);
  await terminal.sees('❯ Accept');
  const isSent = async () => !(await terminal.text()).includes('❯ Accept');
  await terminal.press(ENTER, until('the form is sent', isSent));
}

/** Types the prompt, again while the caller has not connected to the server yet. */
async function delegate(models: Models, terminal: AttachedTerminal): Promise<void> {
  await terminal.sees('❯');
  while (models.asked.length === 0) {
    const before = models.tooEarly;
    terminal.type('Delegate this.');
    await terminal.sees(/❯.Delegate this\./u);
    terminal.type(ENTER);
    await until('the model is asked', () => models.asked.length > 0 || models.tooEarly > before);
  }
}

describeRealClaude('Claude Code as the caller, in a terminal', ({ binary }) => {
  it('is called back at the end, and its person answers two questions by keys', async () => {
    const work = [runs('node test.js || ls'), runs('node test.js; echo done'), says('Both tests pass now.')];
    const models = new Models(work);
    const bridge = await startBridge({ claude: binary, projects: ['app', 'desk'], script: models.next });
    models.start = { path: bridge.project, prompt: 'Fix it.', permission_mode: 'cautious' };
    const terminal = await caller(bridge, binary);
    await delegate(models, terminal);
    await terminal.sees('Bash: command: node test.js || ls');
    await decide(terminal, 'Yes, this once');
    await terminal.sees('Bash: command: node test.js; echo done');
    terminal.type(ESC);
    await terminal.sees('needs your input');
    terminal.type(DOWN);
    terminal.type(ENTER);
    terminal.type(ENTER);
    await decide(terminal, 'No', 'use make instead');
    await terminal.sees('Read: <task-notification>');
    const [, , called] = models.asked;
    expect(called?.userText).toContain('Both tests pass now.');
    expect(models.asked).toHaveLength(3);
    expect(models.calls).toEqual(['start_task']);
    expect(models.denied).toEqual(['use make instead']);
  });

  it('is called by the next server when its own was killed, and in a resumed chat; once each time', async () => {
    const models = new Models([{ say: 'Mended.', delayMs: 6_000 }]);
    const bridge = await startBridge({ claude: binary, projects: ['app', 'desk'], script: models.next });
    models.start = { path: bridge.project, prompt: 'Fix it.' };
    const first = await caller(bridge, binary);
    await delegate(models, first);
    await first.sees('Read: nothing yet');
    for (const pid of await serversOf(bridge)) process.kill(pid, 'SIGKILL');
    first.type('/mcp reconnect claude-code-bridge');
    await first.sees('/mcp reconnect claude-code-bridge');
    first.type(ENTER);
    await first.sees('Read: <task-notification>');
    expect(models.asked.filter(isCall)).toHaveLength(1);

    models.calls.length = 0;
    models.work.push({ say: 'Mended again.', delayMs: 8_000 });
    first.type('Delegate this.');
    await first.sees(/Delegate this\.\s+[─]/u);
    first.type(ENTER);
    await until('the second task is started', () => models.calls.length === 1);
    await first.sees('1 MCP task still running');
    await first.leave();
    const resumed = await caller(bridge, binary, '--continue');
    await resumed.sees(/Read: <task-notification>[\s\S]*Read: <task-notification>/u);
    expect(models.asked.filter(isCall)).toHaveLength(2);
  });

  it('ends the task that its person stops, with a reason that blames no person', async () => {
    const models = new Models([thinksForEver]);
    const bridge = await startBridge({ claude: binary, projects: ['app', 'desk'], script: models.next });
    models.start = { path: bridge.project, prompt: 'Fix it.' };
    const terminal = await caller(bridge, binary);
    await delegate(models, terminal);
    await terminal.sees('1 MCP task');
    terminal.type(DOWN);
    await terminal.sees(/MCP task|running/u);
    terminal.type(ENTER);
    await terminal.sees('Status:');
    terminal.type('x');
    const { tasks } = listSchema.parse(await bridge.call('list_tasks'));
    const end = await bridge.end(tasks[0]?.task_id ?? '');
    expect(end).toMatchObject({ status: 'killed', reason: 'Cancelled from the chat.' });
  });
});

/** True for a turn that a task's end began. */
function isCall({ userText }: ScriptedRequest): boolean {
  return userText.includes('<task-notification>');
}

/** The servers that callers started: all but that of the test. */
async function serversOf(bridge: TestBridge): Promise<number[]> {
  const pids = (await bridge.workplace.processes()).filter((pid) => pid !== bridge.mcp.pid);
  const commands = await Promise.all(pids.map((pid) => commandOf(pid)));
  return pids.filter((_, index) => commands[index]?.includes(serverEntry));
}
