import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, inject } from 'vitest';
import { runs, says } from '../../harness/scripted-turns.js';
import { toolsForModels } from '../../tools/all-tools.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';
import type { ModelCall } from './models/model-server.js';
import { DELEGATED, delegation, nothingSeen, type DelegationSeen } from './models/delegation.js';
import { ScriptedCaller, type Conversation } from './models/scripted-caller.js';

const run = promisify(execFile);

/** The long form waits as long as one call may. */
const isLongForm = process.env['SOAK'] === '1';
const LONG_WAIT_SECONDS = isLongForm ? 45 : 4;
/** The task goes on a little longer than the wait. */
const AGENT_THINKS_MS = (LONG_WAIT_SECONDS + 3) * 1_000;
const CLIENT_LIMIT_MS = 180_000;
/** Nothing listens there: a client that asks another machine fails at once. */
const NO_NETWORK = 'http://127.0.0.1:9';

/** A bridge with all toolsets, a project of a task (`project`), and one in which the client runs (`desk`). */
export interface ClientBridge extends TestBridge {
  readonly desk: string;
  /** How a client starts the server, with its whole environment. */
  readonly server: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  /** The environment of a client: its own home, and no network. */
  readonly clientEnv: Readonly<Record<string, string>>;
  /** Names of the tools that models are offered. */
  readonly tools: readonly string[];
}

/** What an agent does in its task: one command that is asked about, a long thought, and the end. */
function agentTurns() {
  const turns = [runs('node -e 0'), { ...says('Fixed the bug.'), delayMs: AGENT_THINKS_MS }];
  return () => turns.shift() ?? says('Done.');
}

/** Starts it. Everything ends with the test. */
export async function startClientBridge(): Promise<ClientBridge> {
  const claude = inject('claudeVersions').at(-1)?.binary;
  if (claude === undefined) throw new Error('the tests of clients need the newest pinned Claude Code');
  const bridge = await startBridge({
    claude,
    projects: ['app', 'desk'],
    script: agentTurns(),
    env: { MCP_TOOLSETS: 'all' },
  });
  const { HOME = '', PATH = '', LANG = '', TMPDIR = '', XDG_RUNTIME_DIR = '' } = bridge.env;
  return Object.assign(bridge, {
    desk: bridge.projects[1] ?? '',
    server: { command: process.execPath, args: [serverEntry], env: bridge.env },
    clientEnv: {
      ...{ HOME, PATH, LANG, TMPDIR, XDG_RUNTIME_DIR, TERM: 'dumb', NO_COLOR: '1' },
      ...{ HTTP_PROXY: NO_NETWORK, HTTPS_PROXY: NO_NETWORK, NO_PROXY: '127.0.0.1,localhost' },
      ...{ http_proxy: NO_NETWORK, https_proxy: NO_NETWORK, no_proxy: '127.0.0.1,localhost' },
    },
    tools: toolsForModels.map(({ name }) => name),
  });
}

/** Runs a client in `desk` until it ends; what it printed. Rejects with all of that when it fails. */
export async function runClient(
  bridge: ClientBridge,
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { cwd: bridge.desk, env: { ...bridge.clientEnv, ...env }, timeout: CLIENT_LIMIT_MS };
  const running = run(program, args, { ...options, maxBuffer: 64 * 1024 * 1024 });
  // Some read a prompt from a stdin that is no terminal.
  running.child.stdin?.end();
  const { stdout } = await running;
  return stdout;
}

/** A model that makes one delegation, and what it saw; `first` is played before it, in the same conversation. */
export function delegatingModel(
  bridge: ClientBridge,
  first?: () => Generator<ModelCall, void, string>,
): { readonly caller: ScriptedCaller; readonly seen: DelegationSeen } {
  const seen = nothingSeen();
  const plan = { project: bridge.project, longWaitSeconds: LONG_WAIT_SECONDS };
  function* conversation(): Conversation {
    if (first !== undefined) yield* first();
    return yield* delegation(plan, seen);
  }
  return { caller: new ScriptedCaller(conversation()), seen };
}

/** The client printed the model's last words, and the delegation is what was planned. Gives its tools and its wait. */
export async function expectDelegated(
  bridge: ClientBridge,
  { caller, seen }: ReturnType<typeof delegatingModel>,
  printed: string,
): Promise<void> {
  const story = JSON.stringify(caller.calls, null, 1);
  expect(printed, story).toContain(DELEGATED);
  expect(seen, story).toMatchObject({ asked: 1, longWait: { status: 'running' } });
  expect(seen.longWait?.seconds).toBeGreaterThan(LONG_WAIT_SECONDS - 0.5);
  expect(seen.receipt).toContain('node -e 0');
  expect(await bridge.status(seen.taskId)).toMatchObject({ status: 'completed' });
  expect(await bridge.decided(seen.taskId)).toEqual(['Bash allow caller']);
}
