import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { seededRandom, soakRounds, soakSeed } from '../../harness/seeded-random.js';
import { asksEnv, program } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';
import { RawReplies, request, type RawMessage } from '../../mcp/raw-client.js';
import { envelope } from '../../mcp/tasks-client.js';

const KILLS = 100;
/** A server is killed after at most so many requests: they are sent all the time. */
const MAX_REQUESTS = 120;
const ID = /task_[0-9a-f]{20}/;
const ENDS: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/** Works a moment, asks once where the prompt says so, and ends. */
const WORKER = `read -r _ what seconds
exec </dev/tty
sleep "$seconds"
[ "$what" = asks ] && { printf 'Do you want to proceed? [y/N] '; read -r line; }
sleep "$seconds"
echo bye`;

/** A client that declares Tasks, whose server is killed at random moments; the next request starts the next server. */
class Client {
  kills = 0;
  readonly #bridge: TestBridge;
  readonly #random: () => number;
  #server: ChildProcessWithoutNullStreams | undefined;
  #replies = new RawReplies();
  #left = 0;
  #ids = 0;

  constructor(bridge: TestBridge, random: () => number) {
    this.#bridge = bridge;
    this.#random = random;
  }

  /** Undefined where the server died before it answered. */
  async ask(method: string, params: Readonly<Record<string, unknown>>): Promise<RawMessage | undefined> {
    const server = (this.#server ??= this.#start());
    const id = ++this.#ids;
    const answer = this.#replies.answerTo(id);
    server.stdin.write(request(id, method, { ...params, _meta: envelope(true) }));
    if (--this.#left === 0) server.kill('SIGKILL');
    return Promise.race([answer, once(server, 'exit').then(() => undefined)]);
  }

  async end(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server?.exitCode !== null) return;
    server.stdin.end();
    await once(server, 'exit');
  }

  #start(): ChildProcessWithoutNullStreams {
    const server = spawn(process.execPath, [serverEntry], { env: this.#bridge.env, stdio: 'pipe' });
    const replies = (this.#replies = new RawReplies());
    server.setMaxListeners(0);
    server.stderr.resume();
    server.stdin.on('error', () => undefined); // It was killed.
    server.stdout.on('data', (chunk: Buffer) => replies.take(chunk.toString('utf8')));
    server.once('exit', () => {
      if (this.#server !== server) return;
      this.#server = undefined;
      this.kills++;
    });
    this.#left = 1 + Math.floor(this.#random() * MAX_REQUESTS);
    return server;
  }
}

/** Follows a task as Claude Code does, and answers each question; its states, the last one an end. */
async function follow(client: Client, taskId: string): Promise<Record<string, unknown>[]> {
  const states: Record<string, unknown>[] = [];
  await until(`the end of ${taskId}`, async () => {
    const { result, error } = (await client.ask('tasks/get', { taskId })) ?? {};
    expect(error).toBeUndefined();
    if (result === undefined) return false;
    states.push(result);
    const asked = Object.keys(result['inputRequests'] ?? {});
    const answers = asked.map((key) => [key, { action: 'accept', content: { verdict: 'allow' } }]);
    if (asked.length > 0)
      await client.ask('tasks/update', { taskId, inputResponses: Object.fromEntries(answers) });
    return ENDS.has(result['status']);
  });
  return states;
}

it('a server that is killed at random moments loses no end and no answer of a client that follows tasks', async () => {
  const seed = soakSeed();
  const random = seededRandom(seed);
  const kills = soakRounds(KILLS);
  const env = { ...asksEnv, MCP_TASK_HISTORY_SIZE: '2000' };
  const bridge = await startBridge({ claude: program('worker', WORKER), projects: ['a', 'b', 'c'], env });
  const client = new Client(bridge, random);
  const ends = new Map<string, unknown>();
  const seen = { unanswered: 0, asked: 0 };

  const lane = async (path: string): Promise<void> => {
    while (client.kills < kills) {
      const prompt = `AGENT: ${random() < 0.5 ? 'asks' : 'ends'} ${(random() * 0.6).toFixed(2)}`;
      const args = { name: 'start_task', arguments: { path, prompt, timeout_seconds: 60 } };
      const started = await client.ask('tools/call', args);
      // A task whose start was not answered has the project: the refusal of the next one names it.
      const id = ID.exec(JSON.stringify(started?.result ?? ''))?.[0];
      if (id === undefined) seen.unanswered++;
      if (id === undefined || ends.has(id)) continue;
      const states = await follow(client, id);
      const end = states.at(-1);
      const { status, decisions } = await bridge.record(id);
      expect([end?.['status'], status]).toEqual(['completed', 'completed']);
      expect(states.filter((state) => ENDS.has(state['status']))).toHaveLength(1);
      expect(decisions.map(({ answered_by, late }) => [answered_by, late])).toEqual(
        decisions.map(() => ['elicitation', undefined]),
      );
      seen.asked += decisions.length;
      ends.set(id, end?.['result']);
    }
  };
  await Promise.all(bridge.projects.map(lane));
  for (const [taskId, result] of ends)
    expect(
      await until('an answer', async () => (await client.ask('tasks/get', { taskId }))?.result ?? false),
    ).toMatchObject({ result });
  await client.end();
  await bridge.killAll();
  process.stdout.write(
    `SOAK_SEED=${seed}: ${client.kills} kills, ${ends.size} ends, ${JSON.stringify(seen)}\n`,
  );
  expect(seen.asked).toBeGreaterThan(0);
});
