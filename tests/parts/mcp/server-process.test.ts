import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { tmpdir } from 'node:os';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bundledProgram } from '../../harness/bundled-program.js';
import { TASK_ID } from '../../tools/fake-task-service.js';
import { initialize, RawReplies, request } from '../../mcp/raw-client.js';

const program = bundledProgram(new URL('../../mcp/serve-fake.ts', import.meta.url));
const env = { PATH: process.env['PATH'] ?? '', TMPDIR: tmpdir() };

describe('a server process', () => {
  let child: ChildProcessByStdio<Writable, Readable, Readable>;
  let replies: RawReplies;
  let errors: string;

  beforeEach(async () => {
    child = spawn(process.execPath, [program()], { stdio: 'pipe', env });
    const own = new RawReplies();
    replies = own;
    errors = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => own.take(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    // The client's end may close under it: that is what some of these tests are about.
    child.stdin.on('error', () => undefined);
    child.stdin.write(initialize(1));
    await replies.answerTo(1);
  });

  afterEach(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  async function exitOf(end: () => void): Promise<{ code: number | null }> {
    const exited = once(child, 'exit');
    end();
    await exited;
    return { code: child.exitCode };
  }

  test('writes nothing but the protocol to stdout, and what a library prints to stderr', async () => {
    child.stdin.write('garbage\n');
    await replies.answerTo(null);
    await vi.waitFor(() => expect(errors).toContain('more noise'));
    expect(errors).toContain('noise on stdout');
    expect(replies.messages.every((message) => message['jsonrpc'] === '2.0')).toBe(true);
  });

  test.each([
    ['at the end of its input', () => child.stdin.end()],
    ['on SIGTERM', () => child.kill('SIGTERM')],
    ['on SIGINT', () => child.kill('SIGINT')],
    ['on SIGHUP', () => child.kill('SIGHUP')],
  ])('leaves %s by itself with exit code 0, disposed, also while a call waits', async (_when, end) => {
    child.stdin.write(
      request(2, 'tools/call', { name: 'wait_for_task', arguments: { task_ids: [TASK_ID] } }),
    );
    child.stdin.write(request(3, 'ping'));
    await replies.answerTo(3);
    const { code } = await exitOf(end);
    expect(code).toBe(0);
    expect(errors).toContain('disposed');
    expect(errors).toMatch(/\[INFO\] Shutting down: (received SIG(TERM|INT|HUP)|the input ended)\n/);
  });

  test('answers what came right before the end of its input', async () => {
    const { code } = await exitOf(() => child.stdin.end(request(2, 'tools/list')));
    expect(code).toBe(0);
    expect((await replies.answerTo(2)).result).toHaveProperty('tools');
  });

  test('leaves when nobody takes its output any more', async () => {
    const { code } = await exitOf(() => {
      child.stdout.destroy();
      child.stdin.write(request(2, 'tools/list'));
    });
    expect(code).toBe(0);
  });

  test('leaves on SIGTERM although its output is not read', async () => {
    child.stdout.pause();
    for (let id = 2; id < 60; id++) child.stdin.write(request(id, 'tools/list'));
    const { code } = await exitOf(() => child.kill('SIGTERM'));
    expect(code).toBe(0);
  });
});

describe('clients over stdio', () => {
  test('the 1.x client, another code base, works: tools, resources, subscriptions', async () => {
    const client = new LegacyClient({ name: 'foreign', version: '1' });
    const updated: string[] = [];
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void updated.push(params.uri),
    );
    await client.connect(
      new LegacyTransport({ command: process.execPath, args: [program()], env, stderr: 'ignore' }),
    );
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('start_task');
    const uri = `tasks://${TASK_ID}`;
    await client.subscribeResource({ uri });
    const killed = await client.callTool({ name: 'kill_task', arguments: { task_id: TASK_ID } });
    expect(killed.structuredContent).toMatchObject({
      status: 'killed',
      message: 'Task terminated successfully.',
    });
    await vi.waitFor(() => expect(updated).toContain(uri));
    const again = await client.callTool({ name: 'kill_task', arguments: { task_id: TASK_ID } });
    expect(again.isError).toBe(true);
    const { contents } = await client.readResource({ uri });
    expect(JSON.stringify(contents)).toContain('killed');
    await client.close();
  });
});
