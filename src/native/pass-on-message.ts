// Pure.
import { BridgeError } from '../base/errors.js';
import { nativeSession } from '../tasks/native-session.js';
import type { SentMessage } from '../tasks/task-host.js';
import type { TaskRecord } from '../tasks/task.js';
import type { NativeMessages } from './native-messages.js';

export interface MessagedSession {
  readonly taskId: string;
  /** Left out where the setting `native_messages` is off. */
  readonly messages: NativeMessages | undefined;
  readonly isInTurn: () => boolean;
  readonly send: (message: SentMessage) => Promise<TaskRecord>;
}

/** Sends a message to a session of a person, or queues it until its turn is over. Throws NATIVE_SESSION, and as `TaskRun.message`. */
export async function passOn(message: SentMessage, session: MessagedSession): Promise<TaskRecord> {
  const { taskId, messages, isInTurn, send } = session;
  if (message.interrupt === true) throw nativeSession(taskId, 'interrupted');
  if (messages === undefined) throw nativeSession(taskId, 'sent a message');
  if (!isInTurn() && !messages.reachesIdle)
    throw new BridgeError(
      'NATIVE_SESSION',
      `${taskId} is idle, and its Claude Code has no messaging socket that the bridge may use (2.1.330 and newer have one), so no message reaches it now.`,
      'Send it while a turn runs: it is delivered at the end of that turn. Or its person types it.',
    );
  return send(message);
}
