import { BridgeError } from '../base/errors.js';
import { nearestName } from '../base/text/nearest-name.js';

/** Every toolset that can be chosen, with the words of the generated page. */
export const toolsets = {
  conversation: 'Ask Claude Code, and continue from any of its answers.',
  delegate: 'Delegate tasks one at a time, under the names of an earlier server.',
  files: 'List, read and search files of a project.',
  git: 'See what changed in a repository.',
  process: 'Start any program, here or in a container; follow it, type into it, end it.',
  project: 'Choose the project that other calls mean, and set it up.',
  tasks: 'Start Claude Code in a project, follow it, answer its questions, end it.',
} as const;

export type Toolset = keyof typeof toolsets;

/** The toolsets that a setting chooses. Throws CONFIG_ERROR for a name that is none. */
export function chosenToolsets(setting: 'all' | readonly string[]): ReadonlySet<Toolset> {
  const known = Object.keys(toolsets).filter(isToolset);
  if (setting === 'all') return new Set(known);
  const unknown = setting.filter((name) => !isToolset(name));
  const [first] = unknown;
  if (first !== undefined) {
    const near = nearestName(first, known);
    throw new BridgeError(
      'CONFIG_ERROR',
      `The setting toolsets names ${unknown.map((name) => JSON.stringify(name)).join(', ')}, and there is no such toolset.`,
      `${near === undefined ? '' : `Did you mean "${near}"? `}Known are ${known.join(', ')}; "all" means every one.`,
    );
  }
  return new Set(setting.filter(isToolset));
}

export function isToolset(name: string): name is Toolset {
  return Object.hasOwn(toolsets, name);
}
