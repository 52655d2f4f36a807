import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { z } from 'zod';
import type { ScriptedRequest } from '../../src/cli/demo/messages-api.js';
import { isFinal } from '../../src/tasks/task.js';
import { attach, type AttachedTerminal } from './attached-terminal.js';
import { personalClaude, type PersonalClaude } from './native-plugin.js';
import { gitIn, writeFiles } from './project-files.js';
import { runs, says } from './scripted-turns.js';
import { startBridge, type TestBridge } from './start-bridge.js';
import { until } from './until.js';

/** The setting `native_wait_seconds`. */
const WAIT_MS = 590_000;
/** As long as a key takes to be taken, and as an answer waits: each of the two is first about as often. */
const KEY_MS = 60;
const ANSWER_MS = 700;
const CTRL_C = '\u0003';
const recordSchema = z.looseObject({ session_id: z.string(), project_path: z.string() });
const listedSchema = z.object({ tasks: z.array(z.looseObject({ task_id: z.string() })) });
const closedSchema = z.looseObject({
  decision_id: z.string(),
  summary: z.string(),
  verdict: z.string(),
  answered_by: z.string(),
});

/** A session of a person, and the terminal that shows it. */
export interface RacedSession {
  readonly name: string;
  readonly taskId: string;
  readonly terminal: AttachedTerminal;
}

/** A model that asks for one command after another; each makes a file of its own. */
function script(promptsEach: number) {
  const next = (name: string, number: number) =>
    number === promptsEach
      ? says(`${name} is done.`)
      : runs(`touch ${name}-${number} && echo ${name}-${number}`);
  /** When the model asked for each command, on the clock of `performance`. */
  const askedMs = new Map<string, number>();
  const answer = ({ kind, userText, toolResults }: ScriptedRequest) => {
    if (kind !== 'turn') return says('{"title":"A session"}');
    const [, name = '', last = ''] =
      /\b([a-z]+)-(\d+)\b/.exec(toolResults.map(({ text }) => text).join(' ')) ?? [];
    const begun = /work on (\w+)/.exec(userText)?.[1];
    if (name === '' && begun === undefined) return says('Hello.');
    const [of, number] = name === '' ? [begun ?? '', 0] : [name, Number(last) + 1];
    askedMs.set(`${of}-${number}`, performance.now());
    return next(of, number);
  };
  return { answer, askedMs };
}

/** Sessions of all kinds in one project, with the plugin, each of which is about to ask `promptsEach` times. */
export async function raceableSessions(binary: string, promptsEach: number, seen: { on(id: string): void }) {
  const { answer, askedMs } = script(promptsEach);
  const bridge = await startBridge({ claude: binary, env: { MCP_TOOLSETS: 'tasks,native' }, script: answer });
  await writeFiles(bridge.project, { 'README.md': 'A project.' });
  gitIn(bridge.project, 'init', '-q');
  gitIn(bridge.project, 'add', '.');
  gitIn(bridge.project, 'commit', '-qm', 'first');
  const claude = await personalClaude(bridge, binary);
  await claude.install();
  const origin = await claude.open();
  await origin.prompt('hello');
  await origin.sees('Hello.');
  const originId = await until('the session is a task', async () => (await activeIds(bridge))[0] ?? false);
  const { session_id: earlier } = await recordOf(bridge, originId);
  await origin.leave();
  await bridge.end(originId);
  const kinds: readonly (readonly [string, () => Promise<AttachedTerminal>])[] = [
    ['plain', () => begun(claude, 'plain')],
    ['resumed', () => begun(claude, 'resumed', '--resume', earlier)],
    ['forked', () => begun(claude, 'forked', '--resume', earlier, '--fork-session')],
    ['worktree', () => begun(claude, 'worktree', '--worktree', 'own')],
    ['background', () => inBackground(bridge, claude, binary)],
  ];
  const sessions: RacedSession[] = [];
  for (const [name, open] of kinds) {
    const before = await activeIds(bridge);
    const terminal = await open();
    let taskId: string | undefined;
    await expect
      .poll(async () => (taskId = await asking(bridge, before)), { timeout: 30_000 })
      .toBeDefined()
      .catch(async (error: unknown) => {
        throw new Error(
          `${name} asks nothing: ${await terminal.text()} ${JSON.stringify(await bridge.call('list_tasks'))}`,
          { cause: error },
        );
      });
    sessions.push({ name, taskId: taskId ?? '', terminal });
    seen.on(name);
  }
  return { bridge, sessions, askedMs };
}

async function begun(claude: PersonalClaude, name: string, ...args: string[]): Promise<AttachedTerminal> {
  const terminal = await claude.open(...args);
  await terminal.prompt(`work on ${name}`);
  return terminal;
}

async function inBackground(
  bridge: TestBridge,
  claude: PersonalClaude,
  binary: string,
): Promise<AttachedTerminal> {
  const before = await activeIds(bridge);
  const id = await claude.background('work on background');
  // One that is attached to before its session has begun is ended by Claude Code.
  await until('the session asks', async () => (await asking(bridge, before)) !== undefined);
  return attach(bridge, { shell: `exec '${binary}' attach ${id}`, cwd: bridge.project });
}

/** The task that came after those of `before`, once it has asked. */
async function asking(bridge: TestBridge, before: readonly string[]): Promise<string | undefined> {
  for (const id of (await activeIds(bridge)).filter((one) => !before.includes(one)))
    if ((await bridge.status(id)).decisions.length > 0) return id;
  return undefined;
}

async function activeIds(bridge: TestBridge): Promise<string[]> {
  const { tasks } = listedSchema.parse(await bridge.call('list_tasks', { status: 'active' }));
  return tasks.map(({ task_id }) => task_id);
}

async function recordOf(bridge: TestBridge, taskId: string) {
  const path = join(bridge.workplace.stateDir, 'tasks', taskId, 'record.json');
  return recordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
}

export interface RaceResult {
  /** From the hook's call until a waiting client had the request, in milliseconds, one for each request. */
  readonly shownMs: readonly number[];
  /** The same from the model's answer on, with what Claude Code takes to ask. */
  readonly sinceModelMs: readonly number[];
  /** How often each of the two was first. */
  readonly byTerminal: number;
  readonly byCaller: number;
  /** In words: each decision that says something else than what happened, or that is there not once. */
  readonly faults: readonly string[];
}

/** Answers all requests of a session; every second one is raced between its terminal and the bridge. */
export async function race(
  bridge: TestBridge,
  { name, taskId, terminal }: RacedSession,
  askedMs: ReadonlyMap<string, number>,
  { promptsEach, random }: { readonly promptsEach: number; readonly random: () => number },
): Promise<RaceResult> {
  const shownMs: number[] = [];
  const sinceModelMs: number[] = [];
  for (let number = 0; number < promptsEach; number++) {
    const what = `${name}-${number}`;
    const view = await bridge.until(taskId, ({ decisions }) =>
      decisions.some(({ summary }) => summary.includes(`touch ${what} `)),
    );
    sinceModelMs.push(performance.now() - (askedMs.get(what) ?? 0));
    const decision = view.decisions.find(({ summary }) => summary.includes(`touch ${what} `));
    shownMs.push(Date.now() + WAIT_MS - Date.parse(decision?.expires_at ?? ''));
    const verdict = random() < 0.5 ? 'allow' : 'deny';
    const answer = { task_id: taskId, decision_id: decision?.decision_id, verdict, message: `not ${what}` };
    const respond = async (): Promise<void> => {
      // The terminal may have been first.
      await bridge.mcp.callTool(
        'respond_to_task',
        verdict === 'deny' ? answer : { ...answer, message: undefined },
      );
    };
    if (number % 2 === 1) {
      await terminal.sees(`touch ${what}`);
      await Promise.all([
        pause(random() * KEY_MS).then(() => terminal.type('1')),
        pause(random() * ANSWER_MS).then(respond),
      ]);
    } else await respond();
    await expect
      .poll(async () => (await bridge.status(taskId)).decisions.map(({ summary }) => summary), {
        timeout: 30_000,
      })
      .not.toContain(decision?.summary);
  }
  await bridge.until(taskId, ({ last_output }) => last_output.includes(`${name} is done.`));
  return { shownMs, sinceModelMs, ...(await outcome(bridge, { name, taskId, terminal }, promptsEach)) };
}

async function outcome(
  bridge: TestBridge,
  { name, taskId }: RacedSession,
  promptsEach: number,
): Promise<Omit<RaceResult, 'shownMs' | 'sinceModelMs'>> {
  const { project_path: folder } = await recordOf(bridge, taskId);
  const closed = (await bridge.events(taskId, 'decision-closed')).map((event) => closedSchema.parse(event));
  const notices = (await bridge.events(taskId, 'notice')).map((event) => JSON.stringify(event));
  const faults: string[] = [];
  for (let number = 0; number < promptsEach; number++) {
    const what = `touch ${name}-${number} `;
    const decided = closed.filter(({ summary }) => summary.includes(what));
    const [{ verdict = 'none', answered_by: by = 'nobody' } = {}] = decided;
    const isMade = existsSync(join(folder, `${name}-${number}`));
    const isCorrected = notices.some(
      (notice) => notice.includes(what) && notice.includes('before it was denied'),
    );
    if (decided.length !== 1) faults.push(`${what}was decided ${decided.length} times`);
    else if (isMade !== (verdict !== 'deny') && !isCorrected)
      faults.push(`${what}${isMade ? 'ran' : 'did not run'}: ${verdict} by ${by}`);
  }
  return {
    faults,
    byTerminal: closed.filter(({ answered_by }) => answered_by === 'terminal').length,
    byCaller: closed.filter(({ answered_by }) => answered_by === 'caller').length,
  };
}

/** Ends the session as its person does; a first key may only empty the input. */
export async function leave(bridge: TestBridge, { taskId, terminal, name }: RacedSession): Promise<void> {
  if (name === 'background') return;
  const isOver = async (): Promise<boolean> => isFinal((await bridge.status(taskId)).status);
  await expect
    .poll(
      async () => {
        terminal.type(CTRL_C);
        return isOver();
      },
      { timeout: 20_000, interval: 300 },
    )
    .toBe(true);
  await terminal.exited;
}
