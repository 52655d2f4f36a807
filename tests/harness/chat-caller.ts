import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScriptedRequest, ScriptedTurn } from '../../src/cli/demo/scripted-api.js';
import { attach, type AttachedTerminal } from './attached-terminal.js';
import { commandOf } from './marked-processes.js';
import { says } from './scripted-turns.js';
import { serverEntry, type TestBridge } from './start-bridge.js';
import { until } from './until.js';

/** Before the names of the bridge's tools in Claude Code. */
const TOOL_PREFIX = 'mcp__claude-code-bridge__';
export const START_TASK = `${TOOL_PREFIX}start_task`;
export const [RIGHT, DOWN, ENTER, ESC] = ['\u001B[C', '\u001B[B', '\r', '\u001B'] as const;

/** A person's Claude Code with this server, in a terminal; `more` are flags. It works in the last project. */
export async function chatCaller(bridge: TestBridge, binary: string, more = ''): Promise<AttachedTerminal> {
  const config = join(bridge.workplace.root, 'mcp.json');
  const server = { type: 'stdio', command: process.execPath, args: [serverEntry], env: bridge.env };
  await writeFile(config, JSON.stringify({ mcpServers: { 'claude-code-bridge': server } }));
  const flags = `${more} --mcp-config '${config}' --strict-mcp-config --permission-mode default --allowedTools ${TOOL_PREFIX.slice(0, -2)}`;
  return attach(bridge, { shell: `exec '${binary}' ${flags}`, cwd: bridge.projects.at(-1) ?? '' });
}

/** Chooses in the form of a decision, and sends it. `down` is how often the choice is below the first one. */
export async function decide(
  terminal: AttachedTerminal,
  choice: string,
  { down = 0, why = '' }: { readonly down?: number; readonly why?: string } = {},
): Promise<void> {
  await terminal.sees('Your decision: ▸ not set');
  terminal.type(RIGHT);
  await terminal.sees('❯ ◯ Allow once');
  for (let count = 1; count <= down; count++) {
    terminal.type(DOWN);
    await terminal.sees(count === down ? `❯ ◯ ${choice}` : '❯ ◯ For this session');
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

type Turn = (request: ScriptedRequest) => ScriptedTurn | undefined;

/** The model of a caller: what `turn` says, else a few words. It stores which ends were reported to it, and when. */
export class CallerModel {
  /** Times in Unix milliseconds, by the id of the task. */
  readonly ends = new Map<string, number[]>();
  /** All messages that report ends. */
  words = '';
  /** Requests with the tools of the bridge, and without: before the caller had connected to its server. */
  asked = 0;
  tooEarly = 0;
  #prompt = '';
  readonly #turn: Turn;
  readonly #work: Turn;

  /** `work`: what the models of tasks say, where those run Claude Code, too. */
  constructor(turn: Turn, work: Turn = () => undefined) {
    this.#turn = turn;
    this.#work = work;
  }

  readonly script = (request: ScriptedRequest): ScriptedTurn => {
    if (request.kind === 'side') return says('{"title":"A session"}');
    if (!request.toolNames.includes(START_TASK)) {
      const done = request.userText.includes(this.#prompt) ? undefined : this.#work(request);
      if (done !== undefined) return done;
      this.tooEarly++;
      return says('There is no server yet.');
    }
    this.asked++;
    // Behind the results of tools it stands in a message of its own.
    const told = `${request.userText}\n${request.addedText}`;
    for (const [, id = ''] of told.matchAll(/<summary>MCP task (task_[0-9a-f]{20}) /gu)) {
      this.ends.set(id, [...(this.ends.get(id) ?? []), Date.now()]);
      this.words += told;
    }
    return this.#turn(request) ?? says('Well.');
  };

  /** Types the prompt until a turn of the model answered it: again for each that came before the server was connected. */
  async prompt(terminal: AttachedTerminal, prompt = 'Delegate this.'): Promise<void> {
    this.#prompt = prompt;
    await terminal.sees('❯');
    for (const before = this.asked; this.asked === before;) {
      const { tooEarly } = this;
      terminal.type(prompt);
      await terminal.sees(new RegExp(`❯.${prompt.replaceAll('.', '\\.')}`, 'u'));
      terminal.type(ENTER);
      await until('the model is asked', () => this.asked > before || this.tooEarly > tooEarly);
    }
  }
}

/** The model starts a task with this prompt in each of these projects. */
export function starts(prompt: (at: number) => string, projects: readonly string[]): ScriptedTurn {
  return { tools: projects.map((path, at) => ({ name: START_TASK, input: { path, prompt: prompt(at) } })) };
}

/** The servers that callers started: all but that of the test. */
export async function callersServers(bridge: TestBridge): Promise<number[]> {
  const pids = (await bridge.workplace.processes()).filter((pid) => pid !== bridge.mcp.pid);
  const commands = await Promise.all(pids.map((pid) => commandOf(pid)));
  return pids.filter((_, index) => commands[index]?.includes(serverEntry));
}
