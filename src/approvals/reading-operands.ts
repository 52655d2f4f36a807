import { join } from 'node:path';
import { pathsOf } from './command-paths.js';
import type { Places } from './places.js';
import { isInsideProject } from './project-paths.js';
import { findTests, type ReadingCommand } from './reading-commands.js';
import { commandOf, type ReadingWords } from './reading-words.js';
import { isSecret } from './secret-paths.js';
import { isPlainSed } from './sed-hazards.js';
import type { ShellPart, ShellWord } from './shell-part.js';

export interface ReadingPlaces {
  readonly projectPath: string;
  readonly places: Places;
}

/** Why a command is not known to read only; `rule` where a rule of its own says so. */
export interface ReadingFault {
  readonly why: string;
  readonly rule?: string;
}

/** Why the operands are not those of a command that only reads, and only in the project; undefined when they are. */
export async function operandsFault(
  command: ReadingCommand,
  { operands, scripts, given }: ReadingWords,
  part: ShellPart,
  at: ReadingPlaces,
): Promise<ReadingFault | undefined> {
  const { maxOperands } = command;
  if (maxOperands !== undefined && operands.length > maxOperands)
    return { why: 'it has more arguments than a reading one has' };
  const isRecursive = given.has('-r') || given.has('--recursive');
  switch (command.operands) {
    case 'none':
      return operands.length === 0
        ? undefined
        : { why: `${commandOf(command)} with an argument may change something` };
    case 'text':
      return command.words[0] === 'printf' && operands[0]?.value.startsWith('-') === true
        ? { why: 'printf with an option may set a variable' }
        : undefined;
    case 'format':
      return operands.every((word) => word.value.startsWith('+'))
        ? undefined
        : { why: 'it may set the clock' };
    case 'test':
      // A name with brackets is calculated, and a calculation can run commands.
      return operands.every((word) => word.value === ']' || !word.value.includes('['))
        ? undefined
        : { why: 'a test with brackets may run commands' };
    case 'paths':
      return pathsFault(operands, part, at, command.words[0] === 'git');
    case 'pattern':
      // `rg --files` takes no pattern.
      return patternFault(
        command,
        given.has('--files') ? ['', ...scripts] : scripts,
        operands,
        part,
        at,
        isRecursive,
      );
    case 'sed':
      return sedFault(scripts, operands, part, at);
    case 'find':
      return findFault(operands, part, at);
    case 'folder':
      return operands.length === 1 && operands[0]?.value !== '-'
        ? pathsFault(operands, part, at, false)
        : { why: 'nobody can say where it leads' };
  }
}

async function patternFault(
  command: ReadingCommand,
  scripts: readonly string[],
  operands: readonly ShellWord[],
  part: ShellPart,
  at: ReadingPlaces,
  isRecursive: boolean,
): Promise<ReadingFault | undefined> {
  const [pattern] = operands;
  const paths = scripts.length > 0 ? operands : operands.slice(1);
  if (
    command.words[0] === 'jq' &&
    /\b(env|import|include|input_filename|get_search_list)\b|\$ENV|\$__/.test(pattern?.value ?? '')
  ) {
    return { why: 'its filter may read the environment or other files' };
  }
  if (scripts.length === 0 && pattern?.kind === 'glob' && command.words[0] !== 'git') {
    // The shell may put names of files in its place: then the rest are not what they seem.
    const fault = await pathsFault([pattern], part, at, false);
    if (fault !== undefined) return fault;
  }
  const fault = await pathsFault(paths, part, at, command.words[0] === 'git');
  if (fault !== undefined || !isRecursive) return fault;
  return searchedSecret(paths, part, at);
}

/** A search through a folder prints what lies in it; `.env` beside the sources is the usual case. */
async function searchedSecret(
  paths: readonly ShellWord[],
  part: ShellPart,
  { places }: ReadingPlaces,
): Promise<ReadingFault | undefined> {
  const folders = [...(part.folders ?? [])];
  const searched = paths.length === 0 ? folders : [];
  for (const word of paths) searched.push(...((await pathsOf(word, part.folders, places)) ?? []));
  for (const folder of searched) {
    const secret = (await places.names(folder))?.find((name) => isSecret(join(folder, name)));
    if (secret !== undefined)
      return { why: `${secret} lies in the folder it searches`, rule: 'cautious-secret' };
  }
  return undefined;
}

async function sedFault(
  scripts: readonly string[],
  operands: readonly ShellWord[],
  part: ShellPart,
  at: ReadingPlaces,
): Promise<ReadingFault | undefined> {
  const [script] = operands;
  const all = scripts.length > 0 ? scripts : [script?.kind === 'literal' ? script.value : ''];
  if (!all.every(isPlainSed)) return { why: 'its script may write files or run commands' };
  return pathsFault(scripts.length > 0 ? operands : operands.slice(1), part, at, false);
}

async function findFault(
  words: readonly ShellWord[],
  part: ShellPart,
  at: ReadingPlaces,
): Promise<ReadingFault | undefined> {
  const first = words.findIndex((word) => /^[-!(]/.test(word.value));
  const paths = words.slice(0, first === -1 ? undefined : first);
  const tests = first === -1 ? [] : words.slice(first);
  for (let index = 0; index < tests.length; index++) {
    const word = tests[index];
    const values = word?.kind === 'literal' ? findTests.get(word.value) : undefined;
    if (word === undefined || values === undefined)
      return { why: `it is not known that find with ${word?.text ?? 'this'} only reads` };
    if (values > 0 && tests[index + 1]?.kind !== 'literal')
      return { why: `the value of ${word.value} is not known` };
    index += values;
  }
  return pathsFault(paths, part, at, false);
}

async function pathsFault(
  words: readonly ShellWord[],
  part: ShellPart,
  { projectPath, places }: ReadingPlaces,
  isGit: boolean,
): Promise<ReadingFault | undefined> {
  for (const word of words) {
    if (word.kind === 'literal' && word.value === '-') continue;
    const paths = await pathsOf(word, part.folders, places);
    if (paths === undefined) return { why: `it is not known where ${word.text} leads` };
    for (const path of paths) {
      if (path !== projectPath && !isInsideProject(projectPath, path))
        return { why: `${word.text} lies outside of the project` };
      if (isSecret(path)) return { why: `${word.text} holds secrets, by its name`, rule: 'cautious-secret' };
    }
    // `HEAD:.env` is a file, too.
    const inTree = isGit ? word.value.slice(word.value.lastIndexOf(':') + 1) : '';
    if (inTree !== '' && isSecret(inTree))
      return { why: `${word.text} holds secrets, by its name`, rule: 'cautious-secret' };
  }
  return undefined;
}
