import type { Command } from 'commander';
import { BridgeError, messageOf } from '../base/errors.js';
import { countedNoun } from '../base/text.js';
import { switchNative } from '../native/native-switch.js';
import { isFinal } from '../tasks/task.js';
import { addCommand, type CommandContext } from './command.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import { groupOf, ID_WORDS, type Room } from './open-tasks.js';
import { addAnswer } from './tasks-acts.js';
import { addList, addShow } from './tasks.js';

/** More sessions than one person has. */
const MAX_SESSIONS = 1_000;
const PLUGIN = 'code-bridge@claude-code-bridge-plugins';

/** Adds `native` and its commands. */
export function addNative(parent: Command, context: CommandContext): void {
  const description = 'list, show and answer sessions of Claude Code that you started yourself';
  const native = addCommand(parent, context, 'native', description, '', 'answer d93a7d y');
  const group = groupOf(native, context, true);
  const { add, addText, act } = group;
  addList(native, group, 'list your sessions, first those that wait for you, then the newest (the default)');
  const one = ['[session]', `${ID_WORDS}; default: the only one that runs`] as const;
  addShow(group, 'show one session: what it does, and what it asks', one);
  addAnswer(add('answer', 'answer what a session asks', 'd93a7d y', 'd93a7d 2'), '<session>', group);
  for (const [word, words, isOn] of [
    ['off', 'end it: no session that you start is seen, recorded or answered any more', false],
    ['on', 'see, record and answer such sessions again', true],
  ] as const)
    addText(word, words, '').action(
      act('switch the view of own sessions', (room) => switchSessions(isOn, room, context)),
    );
}

/** Ends the view of sessions that people started, for every server of the state directory, or begins it again. */
async function switchSessions(
  on: boolean,
  { local: tasks, statePath }: Room,
  { command, output }: CommandContext,
): Promise<ExitCode> {
  const write = (text: string): void => void output.write(text);
  await switchNative(statePath, on).catch((error: unknown) => {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `${statePath} cannot be written: ${messageOf(error)}`,
      'Check the permissions and the room of that folder, then run this command again.',
    );
  });
  if (on) {
    write('On: with the plugin, sessions are seen from their next prompt on.\n');
    return exitCodes.done;
  }
  const active = await tasks.list({ native: true, status: 'active', limit: MAX_SESSIONS });
  const seen = active.tasks.filter(({ keeper }) => keeper !== null);
  const ended = await Promise.allSettled(seen.map(({ task_id }) => tasks.letGo(task_id)));
  const count = ended.filter((one) => one.status === 'fulfilled' && isFinal(one.value.status)).length;
  const [was, goes] = count === 1 ? ['was', 'goes'] : ['were', 'go'];
  const goOn =
    count === 0 ? '' : ` ${countedNoun(count, 'session')} that ${was} seen ${goes} on without the bridge.`;
  write(`Off: no session is seen any more.${goOn}\nWhat was recorded stays as ended tasks.\n`);
  if (count < seen.length)
    write(
      `${seen.length - count} did not answer: the record ends when the session goes on, and nothing of it is answered.\n`,
    );
  write(`The plugin does nothing now. To remove it: claude plugin uninstall ${PLUGIN}\n`);
  write(`To see sessions again: ${command} native on\n`);
  return exitCodes.done;
}
