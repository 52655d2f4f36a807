import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const toolsets = { MCP_TOOLSETS: 'all' };
const delegatedSchema = z.looseObject({
  taskId: z.uuid(),
  bridgeTaskId: z.string(),
  status: z.string(),
  reason: z.string(),
  output: z.string(),
  exitCode: z.number().nullable(),
});
const logsSchema = z.object({ lines: z.array(z.string()), totalBytes: z.int() });
const faultSchema = z.looseObject({
  isError: z.literal(true),
  _meta: z.object({ error: z.looseObject({ errorCode: z.string() }) }),
});

async function delegated(bridge: TestBridge, tool: string, args: Readonly<Record<string, unknown>> = {}) {
  return delegatedSchema.parse(await bridge.call(tool, args));
}

/** The error data of a call that must fail. */
async function fault(bridge: TestBridge, tool: string, args: Readonly<Record<string, unknown>>) {
  return faultSchema.parse(await bridge.mcp.callTool(tool, args))._meta.error;
}

describe('a delegated task, for a client of the legacy era', () => {
  const era = 'legacy';

  it('runs alone, is looked at without an id, shows both streams, and is cancelled with a reason', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, era, env: toolsets });
    const task = await delegated(bridge, 'DelegateTask', {
      prompt: 'AGENT: prints-both',
      path: bridge.project,
    });
    expect(task.status).toBe('running');
    expect(
      await fault(bridge, 'DelegateTask', { prompt: 'AGENT: exit', path: bridge.project }),
    ).toMatchObject({ errorCode: 'TASK_ALREADY_RUNNING', taskId: task.taskId });
    expect(await delegated(bridge, 'TaskStatus')).toMatchObject({ taskId: task.taskId, status: 'running' });
    const logs = async (tail: number) =>
      logsSchema.parse(await bridge.call('TaskLogs', { taskId: task.taskId, tail }));
    await expect
      .poll(async () => (await logs(100)).lines.join('\n'))
      .toMatch(/to stdout[^]*to stderr|to stderr[^]*to stdout/);
    expect((await logs(1)).lines).toHaveLength(1);
    const cancelled = await delegated(bridge, 'CancelTask', { taskId: task.taskId, reason: 'Not that one.' });
    expect(cancelled).toMatchObject({ status: 'cancelled', reason: 'Not that one.' });
    expect(await delegated(bridge, 'TaskStatus')).toMatchObject({
      taskId: task.taskId,
      status: 'cancelled',
      reason: 'Not that one.',
    });
    expect(await fault(bridge, 'CancelTask', { taskId: task.taskId })).toMatchObject({
      errorCode: 'TASK_NOT_RUNNING',
    });
  });

  it('ends with its output and exit code, and the next may come', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, era, env: toolsets });
    const first = await delegated(bridge, 'DelegateTask', { prompt: 'AGENT: exit 3', path: bridge.project });
    await bridge.end(first.bridgeTaskId);
    expect(await delegated(bridge, 'TaskStatus', { taskId: first.taskId })).toMatchObject({
      status: 'failed',
      exitCode: 3,
      output: 'exiting with 3',
    });
    const other = await bridge.start({ prompt: 'AGENT: exit', path: bridge.project });
    await bridge.end(other);
    expect(await delegated(bridge, 'TaskStatus')).toMatchObject({ taskId: first.taskId });
    const second = await delegated(bridge, 'DelegateTask', { prompt: 'AGENT: exit', path: bridge.project });
    await bridge.end(second.bridgeTaskId);
    expect(await delegated(bridge, 'TaskStatus')).toMatchObject({
      taskId: second.taskId,
      status: 'completed',
    });
  });
});
