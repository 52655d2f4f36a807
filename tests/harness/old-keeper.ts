import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { createTaskId } from '../../src/base/ids.js';
import { readJsonLines, writeJsonLine } from '../../src/keeper/wire/json-lines.js';
import { ownIdentity } from '../../src/store/process-identity.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { sampleRecord, sampleSpec } from '../tasks/sample-task.js';
import type { Workplace } from './workplace.js';

/** All that protocol 1 knew. */
const requestSchema = z.object({ id: z.number(), method: z.enum(['respond', 'message', 'kill', 'screen']) });

/**
 * A keeper of the first protocol, in this process: it greets without a number, and hangs up on what it does not know. Its
 * task runs, as its record on disk says.
 */
export async function startOldKeeper(workplace: Workplace, projectPath: string): Promise<TaskRecord> {
  const task_id = createTaskId();
  const folder = join(workplace.stateDir, 'tasks', task_id);
  const socketPath = join(workplace.root, 'old.sock');
  let record = sampleRecord(
    {
      status: 'running',
      reason: 'The agent runs.',
      keeper: await ownIdentity(),
      socket_path: socketPath,
      log_file: join(folder, 'task.log'),
    },
    sampleSpec({ task_id, project_path: projectPath, created_at: new Date().toISOString() }),
  );
  const write = async (): Promise<void> =>
    writeFile(join(folder, 'record.json'), JSON.stringify(record), { mode: 0o600 });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(record.log_file, 'It works.\n');
  await write();
  const answer = async (socket: Socket, value: unknown): Promise<void> => {
    const request = requestSchema.safeParse(value);
    if (!request.success) {
      socket.destroy();
      return;
    }
    const { id, method } = request.data;
    if (method === 'screen') {
      writeJsonLine(socket, { id, screen: { text: 'an old screen', columns: 80, rows: 24 } });
      return;
    }
    if (method === 'kill') {
      record = { ...record, status: 'killed', reason: 'Killed.', ended_at: new Date().toISOString() };
      await write();
    }
    writeJsonLine(socket, { id, record });
    if (method === 'kill') writeJsonLine(socket, { push: 'record', record });
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    writeJsonLine(socket, { push: 'record', record });
    readJsonLines(socket, (value) => void answer(socket, value));
  });
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  return record;
}
