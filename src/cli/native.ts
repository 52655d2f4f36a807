import { BridgeError, messageOf } from '../base/errors.js';
import { switchNative } from '../native/native-switch.js';
import { isFinal } from '../tasks/task.js';
import { countedNoun } from '../base/text.js';
import { requireOutsideTasks, type CommandContext } from './command-context.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import { openTasks } from './open-tasks.js';

/** More sessions than one person has. */
const MAX_SESSIONS = 1_000;
const PLUGIN = 'code-bridge@claude-code-bridge-plugins';

/** Ends the view of sessions that people started, for every server of the state directory, or begins it again. */
export async function switchSessions(on: boolean, context: CommandContext): Promise<ExitCode> {
  const { env, command, output } = context;
  const write = (text: string): void => void output.write(text);
  await requireOutsideTasks(env, 'switch the view of own sessions');
  const opened = await openTasks(context);
  try {
    await switchNative(opened.statePath, on).catch((error: unknown) => {
      throw unwritable(opened.statePath, error);
    });
    if (on) {
      write('On: with the plugin, sessions are seen from their next prompt on.\n');
      return exitCodes.done;
    }
    const { tasks } = await opened.tasks.list({ native: true, status: 'active', limit: MAX_SESSIONS });
    const seen = tasks.filter(({ keeper }) => keeper !== null);
    const ended = await Promise.allSettled(seen.map(({ task_id }) => opened.tasks.letGo(task_id)));
    const count = ended.filter((one) => one.status === 'fulfilled' && isFinal(one.value.status)).length;
    write(offWords(count));
    if (count < seen.length)
      write(
        `${seen.length - count} did not answer: the record ends when the session goes on, and nothing of it is answered.\n`,
      );
    write(`The plugin does nothing now. To remove it: claude plugin uninstall ${PLUGIN}\n`);
    write(`To see sessions again: ${command} native on\n`);
    return exitCodes.done;
  } finally {
    opened.dispose();
  }
}

/** `count`: sessions that were seen and run on. */
export function offWords(count: number): string {
  const [was, goes] = count === 1 ? ['was', 'goes'] : ['were', 'go'];
  const goOn =
    count === 0 ? '' : ` ${countedNoun(count, 'session')} that ${was} seen ${goes} on without the bridge.`;
  return `Off: no session is seen any more.${goOn}\nWhat was recorded stays as ended tasks.\n`;
}

function unwritable(statePath: string, error: unknown): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `${statePath} cannot be written: ${messageOf(error)}`,
    'Check the permissions and the room of that folder, then run this command again.',
  );
}
