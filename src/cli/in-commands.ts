// Pure: words that are about tools, for a person at a command line.

/** The command that does what a tool does. */
const commands: Readonly<Record<string, string>> = {
  finish_task: 'tasks finish',
  get_task_result: 'tasks show',
  get_task_status: 'tasks show',
  kill_task: 'tasks kill',
  list_tasks: 'tasks list',
  respond_to_task: 'tasks answer',
  start_task: 'run',
  wait_for_task: 'tasks follow',
};
const TOOL = new RegExp(`\\b(?:${Object.keys(commands).join('|')})\\b`, 'g');

/** A hint with the commands instead of the tools; `command` is how a person runs this program. */
export function inCommands(hint: string, command: string): string {
  return hint.replace(TOOL, (tool) => `${command} ${commands[tool] ?? ''}`);
}
