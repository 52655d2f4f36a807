import { expect, test } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { createStderrLogger, type Logger } from '../../src/base/logger.js';
import { logRefusal } from '../../src/mcp/call-log.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { eras, startServing } from './serving.js';

function recorded(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  return { lines, logger: createStderrLogger('debug', (line) => lines.push(line.slice(27))) };
}

test('the log has the code of a refusal, and nothing of its message', () => {
  const { logger, lines } = recorded();
  const error = new BridgeError('PATH_NOT_FOUND', "Path '/p/secret.txt' does not exist.", 'Correct it.');
  logRefusal(logger, 'tools/call read_file', error);
  expect(lines).toEqual(['[INFO] tools/call read_file was refused {"code":"PATH_NOT_FOUND"}\n']);
});

test.each(eras)('names the client of the %s era once, and each call with its time', async (era) => {
  const { logger, lines } = recorded();
  const serving = await startServing(era, new FakeTaskService(taskRecord()), { logger });
  const { client } = serving;
  await client.listTools();
  await client.callTool({ name: 'get_task_status', arguments: { task_id: TASK_ID } });
  await client.callTool({ name: 'start_task', arguments: { prompt: 'a secret', path: '/busy' } });
  await client.callTool({ name: 'start_task', arguments: { prompt: { of: 'a secret' }, path: '/p' } });
  await expect(client.callTool({ name: 'strt', arguments: {} })).rejects.toThrow('Unknown tool');
  await client.readResource({ uri: 'config://current' });
  await client.getPrompt({ name: 'delegate', arguments: { request: 'a secret' } });
  await serving.close();
  const text = lines.join('').replace(/"ms":\d+/g, '"ms":0');
  expect(text.split('Client connected: test 1.0.0')).toHaveLength(2);
  expect(text).toContain('[DEBUG] tools/call get_task_status {"ms":0}');
  expect(text).toContain('[INFO] tools/call start_task was refused {"code":"TASK_ALREADY_RUNNING"}');
  expect(text).toContain('[INFO] tools/call start_task was refused {"code":"INVALID_ARGUMENTS"}');
  expect(text).toContain('[INFO] tools/call of an unknown tool was refused {"name":"strt"}');
  expect(text).toContain('[DEBUG] resources/read config://current {"ms":0}');
  expect(text).toContain('[DEBUG] prompts/get delegate {"ms":0}');
  expect(text).not.toContain('secret');
});
