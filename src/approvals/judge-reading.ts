import { join } from 'node:path';
import { commandName } from './command-hazards.js';
import { gitCommandAt } from './git-hazards.js';
import { isInsideProject } from './project-paths.js';
import { networkCommands, readingCommands, versioned, type ReadingCommand } from './reading-commands.js';
import { operandsFault, type ReadingFault, type ReadingPlaces } from './reading-operands.js';
import { readingWords } from './reading-words.js';
import type { ShellPart, ShellWord } from './shell-part.js';

/** What the built-in rules of mode cautious say of one command. */
export interface Reading {
  readonly isAllowed: boolean;
  readonly rule: string;
  readonly why: string;
}

/** Judges a command by the table of reading commands: allowed when it is sure that it only reads, and only in the project. */
export async function judgeReading(part: ShellPart, at: ReadingPlaces): Promise<Reading> {
  const fault = await faultOf(part, at);
  if (fault === undefined)
    return {
      isAllowed: true,
      rule: 'cautious-command',
      why: 'it reads, and all it touches lies in the project',
    };
  const name = commandName(part.words);
  if (name !== undefined && networkCommands.has(name)) {
    return { isAllowed: false, rule: 'cautious-network', why: `${name} reaches other machines` };
  }
  return { isAllowed: false, rule: fault.rule ?? 'no-rule', why: fault.why };
}

async function faultOf(part: ShellPart, at: ReadingPlaces): Promise<ReadingFault | undefined> {
  const [hazard] = part.hazards;
  if (hazard !== undefined) return { why: hazard.why };
  if (part.isOpaque) return { why: 'what it runs is not known' };
  const [name, ...args] = part.words;
  // Redirections alone, which are judged elsewhere.
  if (name === undefined) return undefined;
  if (name.kind !== 'literal' || name.value.includes('/') || name.hasTilde)
    return { why: 'no rule knows its command' };
  if (
    versioned.has(name.value) &&
    args.length === 1 &&
    /^(--version|-v|-V|version)$/.test(args[0]?.value ?? '')
  )
    return undefined;
  const row = rowOf(part.words);
  if (row === undefined) return { why: `no rule allows ${commandWords(part.words)}` };
  const parsed = readingWords(row.command, part.words.slice(row.start));
  if ('fault' in parsed) return { why: parsed.fault };
  const folderFault = await foldersFault(part.folders, name.value === 'git', at);
  if (folderFault !== undefined) return folderFault;
  return operandsFault(row.command, parsed, part, at);
}

interface Row {
  readonly command: ReadingCommand;
  /** Index of the first word after the command's own. */
  readonly start: number;
}

function rowOf(words: readonly ShellWord[]): Row | undefined {
  const name = words[0]?.value;
  // Hazards were looked at before: what stands between git and its command is harmless.
  const first = name === 'git' ? gitCommandAt(words) : 1;
  const own = [name, ...words.slice(first).map((word) => (word.kind === 'literal' ? word.value : undefined))];
  const command = readingCommands.find((row) => row.words.every((word, index) => own[index] === word));
  return command === undefined ? undefined : { command, start: first + command.words.length - 1 };
}

async function foldersFault(
  folders: readonly string[] | undefined,
  isGit: boolean,
  { projectPath, places }: ReadingPlaces,
): Promise<ReadingFault | undefined> {
  if (folders === undefined) return { why: 'the folder in which it runs is not known' };
  for (const folder of folders) {
    const real = await places.resolve(folder, '.');
    if (real !== projectPath && !isInsideProject(projectPath, real))
      return { why: 'it runs outside of the project' };
    // A folder that looks like a repository names programs that git runs; only the project's own is one that was agreed to.
    if (isGit && real !== projectPath) return { why: 'git runs in another folder than the project’s own' };
  }
  if (isGit && !(await places.exists(join(projectPath, '.git'))))
    return { why: 'the project’s folder is no git repository' };
  return undefined;
}

function commandWords(words: readonly ShellWord[]): string {
  const [name, next] = words;
  if (name?.value === 'git' && next?.kind === 'literal') return `git ${next.value}`;
  return name?.text ?? 'this';
}
