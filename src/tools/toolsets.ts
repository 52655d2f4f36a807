/** Every toolset that can be chosen, with its description on the generated page. */
export const toolsets = {
  board: 'Open the board: all tasks in a browser.',
  checks: 'Run the checks of a finished task in a clean copy: red before, green after.',
  conversation: 'Ask Claude Code, and continue from any of its answers.',
  delegate: 'Delegate tasks one at a time, with the tool names of an earlier server.',
  files: 'List, read and search files of a project.',
  git: 'Show what changed in a repository.',
  native: 'See and answer sessions of Claude Code that you start yourself.',
  process: 'Start any program, here or in a container; follow it, type into it, end it.',
  project: 'Choose the active project; create folders, files and repositories.',
  tasks: 'Start Claude Code in a project, follow it, answer its questions, end it.',
  terminal: 'Run commands in terminals of VS Code, where the user sees them.',
} as const;

export type Toolset = keyof typeof toolsets;

export const toolsetNames: readonly Toolset[] = Object.keys(toolsets).filter(isToolset);

/** Tools of one toolset that others need too: what they start may ask a question. */
const alsoWith: Readonly<Record<string, readonly Toolset[]>> = {
  respond_to_task: ['conversation', 'delegate'],
};

/** Whether a tool is offered with the chosen toolsets. */
export function isOffered(tool: string, toolset: Toolset, chosen: ReadonlySet<Toolset>): boolean {
  return chosen.has(toolset) || (alsoWith[tool] ?? []).some((other) => chosen.has(other));
}

/** The toolsets that a setting chooses; other names are refused when the settings are read. */
export function chosenToolsets(setting: 'all' | readonly string[]): ReadonlySet<Toolset> {
  return new Set(setting === 'all' ? toolsetNames : setting.filter(isToolset));
}

function isToolset(name: string): name is Toolset {
  return Object.hasOwn(toolsets, name);
}
