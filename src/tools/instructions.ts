// Pure.
import { chosenToolsets, toolsets, type Toolset } from './toolsets.js';

/** What the model reads about the whole server, once per conversation. `modes`: the permission modes that the user has set; `machines`: the names of other machines. */
export function instructionsFor(
  setting: 'all' | readonly string[],
  modes?: string,
  machines: readonly string[] = [],
): string {
  const chosen = chosenToolsets(setting);
  const startsTasks = STARTERS.some((toolset) => chosen.has(toolset));
  return [
    ofToolsets(chosen),
    ...(modes === undefined || !startsTasks ? [] : [modes]),
    ...(machines.length === 0 ? [] : [machineWords(machines)]),
  ].join('\n');
}

function machineWords(names: readonly string[]): string {
  return `Other machines of the user, for the argument machine: ${names.join(', ')}. Paths are absolute then, and of that machine; ids such as ${names[0]}/task_… name it.`;
}

const STARTERS: readonly Toolset[] = ['tasks', 'conversation', 'delegate'];

function ofToolsets(chosen: ReadonlySet<Toolset>): string {
  if (chosen.has('tasks'))
    return chosen.has('native') ? `${taskInstructions}\n${nativeInstructions}` : taskInstructions;
  const does = (toolset: Toolset): string => toolsets[toolset];
  const asks = [...chosen].flatMap((toolset) => statusTools[toolset] ?? []);
  return [...[...chosen].map(does), ...(asks.length === 0 ? [] : [howToAnswer(asks)])].join('\n');
}

const taskInstructions = [
  'Delegates work to Claude Code, which runs in a real terminal in one of the user’s projects.',
  'start_task returns a task_id at once. Then call wait_for_task until the task has ended, passing its cursor back each time.',
  'A task with status waiting has open decisions: answer each with respond_to_task; ask the user when the choice is theirs. Unanswered ones are denied at expires_at.',
  'After it has ended, get_task_result reports what it did and what it only claims. One task per project at a time; tasks go on when this conversation ends.',
].join('\n');

const nativeInstructions =
  'Sessions that the user started are listed as tasks, too. Answer there only what the user wants you to answer; what is not answered is left to the user.';

/** Of the toolsets whose tasks may ask: the tool that shows what is asked, and how it goes on. */
const statusTools: Partial<Record<Toolset, string>> = {
  conversation: 'ask_status',
  delegate: 'TaskStatus',
};

function howToAnswer(tools: readonly string[]): string {
  const status = tools.join(' or ');
  return `Claude Code may ask whether it may do something, or what is wanted: ${status} shows the open decisions. Answer each with respond_to_task, ask the user when the choice is theirs, then call ${status} again. Unanswered ones are denied at expires_at.`;
}

/** The same for a server inside a task, where it offers nothing. */
export const insideInstructions =
  'This server runs inside one of its own tasks. It offers nothing here; the setting inside_tasks changes that.';

/** The hint for a task that its client follows. */
export const YOU_ARE_CALLED =
  'You are called when it ends, and its questions go to the person at this client: do not poll.';
const WITH_ID = `${YOU_ARE_CALLED} TaskStop ends it, as kill_task does.`;

/**
 * What the model of a client that follows tasks reads besides, and what is added to the descriptions of tools, by name. The client
 * drops the content of the answer that begins a task.
 */
export const followWords: {
  readonly instructions: string;
  readonly descriptions: Readonly<Record<string, string>>;
} = {
  instructions: [
    `This client follows tasks: start_task, ask and ask_async go on in the background. ${YOU_ARE_CALLED} The task_… id in their answer works with message_task, kill_task and the other tools.`,
    'Stopping the task in the client is kill_task. To leave the chat ends no task: it goes on, and a resumed chat is called at its end.',
  ].join('\n'),
  descriptions: {
    start_task: WITH_ID,
    wait_for_task: 'A task that you are called for already is answered at once.',
    ask: WITH_ID,
    ask_async: WITH_ID,
  },
};
