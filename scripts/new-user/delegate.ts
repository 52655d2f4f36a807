import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { followTask, startTask, structuredContentOf } from '../../src/cli/demo/follow-task.js';
import type { StartedServer } from './place.js';

const CALL_LIMIT_MS = 120_000;
const TASK_LIMIT_SECONDS = 120;

/** Delegates one task over a server, as a client does, and allows all that it asks. Throws when it does not complete. */
export async function delegate(server: StartedServer, project: string): Promise<void> {
  const transport = new StdioClientTransport({ ...server, stderr: 'pipe' });
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const client = new Client({ name: 'claude-code', version: '1.0.0' });
  try {
    await client.connect(transport, { timeout: CALL_LIMIT_MS });
    const call = async (name: string, args: Readonly<Record<string, unknown>>) =>
      structuredContentOf(
        name,
        await client.callTool({ name, arguments: { ...args } }, { timeout: CALL_LIMIT_MS }),
      );
    const id = await startTask(call, {
      prompt: 'Make the file.',
      path: project,
      permission_mode: 'cautious',
      timeout_seconds: TASK_LIMIT_SECONDS,
    });
    const end = await followTask(call, id, {
      onChange: () => undefined,
      decide: async () => ({ verdict: 'allow' }),
    });
    if (end.status !== 'completed') throw new Error(`The task ended as ${end.status}: ${end.reason ?? ''}`);
  } catch (error) {
    throw new Error(`The delegation failed. The server said:\n${log}`, { cause: error });
  } finally {
    await client.close();
  }
}
