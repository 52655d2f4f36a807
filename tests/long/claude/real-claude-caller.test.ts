import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ScriptedRequest, ScriptedTurn } from '../../../src/cli/demo/messages-api.js';
import { describeRealClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { serverEntry, startBridge } from '../../harness/start-bridge.js';

const run = promisify(execFile);

/** Each call is a turn of the caller's model, and each byte is read by it. */
const MAX_CALLS = 10;
const MAX_BYTES = 7_168;
const PREFIX = 'mcp__claude-code-bridge__';

const startedSchema = z.looseObject({ task_id: z.string(), cursor: z.string() });
const cursorSchema = z.looseObject({ cursor: z.string() });
const waitedSchema = z.looseObject({
  cursor: z.string(),
  tasks: z
    .array(
      z.looseObject({ status: z.string(), decisions: z.array(z.looseObject({ decision_id: z.string() })) }),
    )
    .length(1),
});
const receiptSchema = z.looseObject({ task_id: z.string(), status: z.string() });

/** A model that delegates, reads each answer as Claude Code passes it on, and follows it. */
class DelegatingModel {
  readonly calls: string[] = [];
  /** Of the answers, as they stand in the request bodies. */
  bytes = 0;
  receipt: z.infer<typeof receiptSchema> | undefined;
  readonly #openDecisions: string[] = [];
  #taskId = '';
  #cursor = '';
  #isOver = false;

  next({ toolResults }: ScriptedRequest, project: string): ScriptedTurn {
    const [answer] = toolResults;
    if (answer === undefined)
      return this.#call('start_task', {
        path: project,
        prompt: 'Fix the bug.',
        permission_mode: 'cautious',
      });
    this.bytes += Buffer.byteLength(answer.text);
    this.#read(JSON.parse(answer.text));
    if (this.receipt !== undefined) return says('The task has ended.');
    const decision_id = this.#openDecisions.shift();
    if (decision_id !== undefined)
      return this.#call('respond_to_task', { task_id: this.#taskId, decision_id, verdict: 'allow' });
    return this.#isOver
      ? this.#call('get_task_result', { task_id: this.#taskId })
      : this.#call('wait_for_task', { task_ids: [this.#taskId], cursor: this.#cursor });
  }

  #read(answer: unknown): void {
    switch (this.calls.at(-1)) {
      case 'start_task':
        ({ task_id: this.#taskId, cursor: this.#cursor } = startedSchema.parse(answer));
        return;
      case 'respond_to_task':
        this.#cursor = cursorSchema.parse(answer).cursor;
        return;
      case 'wait_for_task': {
        const { cursor, tasks } = waitedSchema.parse(answer);
        this.#cursor = cursor;
        this.#isOver = tasks[0]?.status === 'completed';
        this.#openDecisions.push(...(tasks[0]?.decisions ?? []).map((one) => one.decision_id));
        return;
      }
      default:
        this.receipt = receiptSchema.parse(answer);
    }
  }

  #call(name: string, input: Record<string, unknown>): ScriptedTurn {
    if (this.calls.push(name) > 2 * MAX_CALLS) throw new Error(`too many calls: ${this.calls.join(', ')}`);
    return { tools: [{ name: `${PREFIX}${name}`, input }] };
  }
}

/** The model inside the task: two commands that must be allowed, and the end. */
function workingModel(): () => ScriptedTurn {
  const turns = [runs('node test.js || ls'), runs('node test.js; echo done'), says('Both tests pass now.')];
  return () => turns.shift() ?? says('Done.');
}

describeRealClaude('Claude Code as the caller', ({ binary }) => {
  it('delegates a task with three questions in few calls, and its model reads few bytes', async () => {
    const caller = new DelegatingModel();
    const work = workingModel();
    const bridge = await startBridge({
      claude: binary,
      trusted: false,
      projects: ['app', 'desk'],
      script: (request) => {
        if (request.kind === 'side') return says('{"title":"A session"}');
        return request.toolNames.includes(`${PREFIX}start_task`)
          ? caller.next(request, bridge.project)
          : work();
      },
    });
    const config = join(bridge.workplace.root, 'mcp.json');
    const server = { type: 'stdio', command: process.execPath, args: [serverEntry], env: bridge.env };
    await writeFile(config, JSON.stringify({ mcpServers: { 'claude-code-bridge': server } }));
    const { stdout } = await run(
      binary,
      [
        ...['-p', 'Delegate: fix the bug.', '--mcp-config', config, '--strict-mcp-config'],
        ...['--allowedTools', PREFIX.slice(0, -2)],
      ],
      { cwd: bridge.projects[1], env: bridge.env, timeout: 120_000 },
    );
    expect(stdout).toContain('The task has ended.');
    expect(caller.receipt).toMatchObject({ status: 'completed' });
    expect(caller.calls).toEqual([
      'start_task',
      ...['wait_for_task', 'respond_to_task', 'wait_for_task', 'respond_to_task'],
      ...['wait_for_task', 'respond_to_task', 'wait_for_task', 'get_task_result'],
    ]);
    expect(caller.bytes).toBeLessThan(MAX_BYTES);
  });
});
