import type { ToolCall } from '../../mcp/tool.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { ToolServices } from '../services.js';
import { askPerson } from '../tasks/ask-person.js';

/**
 * Waits for the answer to a question, `timeoutMs` at most. What Claude Code asks meanwhile the person at the client is asked,
 * where the client can show it. Resolves as ConversationManager.answer does; throws TASK_NOT_FOUND.
 */
export async function answerOrPerson(
  taskId: string,
  timeoutMs: number,
  services: Pick<ToolServices, 'conversations' | 'tasks'>,
  call: ToolCall,
): Promise<TaskRecord> {
  const deadlineMs = performance.now() + timeoutMs;
  const leftMs = (): number => Math.max(0, deadlineMs - performance.now());
  const [conversations, tasks] = await Promise.all([services.conversations(), services.tasks()]);
  const answer = () =>
    conversations.answer(taskId, {
      timeoutMs: leftMs(),
      signal: call.signal,
      onProgress: (text) => call.progress(text),
    });
  let record = await answer();
  while ((await askPerson(record, tasks, call.person, leftMs())) === 'answered') record = await answer();
  return record;
}
