// Pure: words that are about tools, for a person at a command line.

/** The command that does what a tool does. */
const commands: Readonly<Record<string, string>> = {
  finish_task: 'tasks finish',
  get_task_diff: 'tasks diff',
  get_task_result: 'tasks show',
  get_task_status: 'tasks show',
  kill_task: 'tasks kill',
  list_tasks: 'tasks list',
  message_task: 'tasks message',
  respond_to_task: 'tasks answer',
  start_task: 'run',
  wait_for_task: 'tasks follow',
};
const TOOL = new RegExp(`\\b(?:${Object.keys(commands).join('|')})\\b`, 'g');

const GO_ON = 'start_task and continue_from this task';
/** What is said to a model, and what a person can do instead. */
const PHRASES: readonly (readonly [string, string])[] = [
  [
    'ask the user to add one to "allowed_roots" in the settings and restart the server',
    'add one to "allowed_roots" in the settings, then run this command again',
  ],
  ['Then restart the server.', 'Then run this command again.'],
  ['then call again', 'then run this command again'],
  ['Call again', 'Run this command again'],
  ['git_status shows', 'git status shows'],
  [GO_ON, 'run --continue'],
  ['or create one with init_git_repo', 'or create one with git init'],
  ['with reviewed "', 'with --reviewed "'],
  // A command line has no option for containers.
  ["Give isolation 'docker'", 'Continue it from an MCP client'],
  ['eave continue_from out', 'eave --continue out'],
  ['eave path out', 'eave --path out'],
  ['give path', 'give --path'],
  ['ask the user to raise day_budget', 'raise day_budget in the settings'],
  ['when the user has raised the setting day_budget', 'once the setting day_budget is raised'],
  ['what the setting task_budget of the user allows', 'what the setting task_budget allows'],
  ['max_cost_usd and max_tokens', '--max-cost and --max-tokens'],
];

/** A hint with the commands instead of the tools; `command` is how a person runs this program. */
export function inCommands(hint: string, command: string): string {
  const said = PHRASES.reduce((text, [words, instead]) => text.replaceAll(words, instead), hint);
  return said
    .replaceAll('`claude-code-bridge ', `\`${command} `)
    .replace(TOOL, (tool) => `${command} ${commands[tool] ?? ''}`);
}
