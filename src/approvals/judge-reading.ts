import { join } from 'node:path';
import { commandName, gitCommandAt, isPlainSed } from './command-hazards.js';
import { pathsOf } from './command-paths.js';
import type { Places } from './places.js';
import { isInsideProject } from './project-paths.js';
import {
  findTests,
  networkCommands,
  readingCommands,
  versioned,
  type ReadingCommand,
} from './reading-commands.js';
import { isSecret } from './secret-paths.js';
import type { ShellPart, ShellWord } from './shell-part.js';

/** What the built-in rules of mode cautious say of one command. */
export interface Reading {
  readonly isAllowed: boolean;
  readonly rule: string;
  readonly why: string;
}

export interface ReadingPlaces {
  readonly projectPath: string;
  readonly places: Places;
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

interface Fault {
  readonly why: string;
  readonly rule?: string;
}

async function faultOf(part: ShellPart, at: ReadingPlaces): Promise<Fault | undefined> {
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
  const parsed = parseOptions(row, part.words.slice(row.start));
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

interface Options {
  readonly operands: readonly ShellWord[];
  /** An option gave the pattern of a search, or the script of sed. */
  readonly scripts: readonly string[];
  readonly given: ReadonlySet<string>;
}

function parseOptions({ command }: Row, words: readonly ShellWord[]): Options | { readonly fault: string } {
  const operands: ShellWord[] = [];
  const scripts: string[] = [];
  const given = new Set<string>();
  const isFree = command.words[0] === 'echo' || command.operands === 'find' || command.operands === 'test';
  if (isFree) return { operands: words, scripts, given };
  let onlyOperands = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    const { value } = word;
    if (onlyOperands || !value.startsWith('-') || value === '-') {
      operands.push(word);
      continue;
    }
    // Unquoted wildcards behind `--include=` can only become a name that begins so, too.
    const isOpen = word.kind === 'glob' && !/^--[a-z-]+=[^=]*$/.test(value);
    if (word.kind === 'unknown' || isOpen) return { fault: `${word.text} is only known when it runs` };
    if (value === '--') {
      onlyOperands = true;
      continue;
    }
    if (command.takesCount === true && /^-\d+$/.test(value)) continue;
    const option = value.startsWith('--') ? longOption(command, value) : shortOption(command, value);
    if (option === undefined)
      return { fault: `it is not known that ${commandOf(command)} with ${value} only reads` };
    given.add(option.name);
    if (/^-[A-Za-z]*r/.test(value)) given.add('-r');
    const rest = option.needsValue ? words[++at] : undefined;
    if (option.needsValue && rest?.kind !== 'literal') return { fault: `the value of ${value} is not known` };
    const text = option.value ?? rest?.value;
    if (text === undefined) continue;
    const fault = valueFault(command, option.name, text);
    if (fault !== undefined) return { fault };
    if (['-e', '--regexp', '--expression'].includes(option.name)) scripts.push(text);
  }
  return { operands, scripts, given };
}

interface Option {
  readonly name: string;
  readonly value: string | undefined;
  readonly needsValue: boolean;
}

function longOption(command: ReadingCommand, text: string): Option | undefined {
  const long = command.long ?? [];
  const sign = text.indexOf('=');
  if (sign === -1) {
    if (long.includes(text)) return { name: text, value: undefined, needsValue: false };
    return long.includes(`${text}:`) ? { name: text, value: undefined, needsValue: true } : undefined;
  }
  const name = text.slice(0, sign);
  const isKnown = long.includes(`${name}=`) || long.includes(`${name}:`);
  return isKnown ? { name, value: text.slice(sign + 1), needsValue: false } : undefined;
}

function shortOption(command: ReadingCommand, text: string): Option | undefined {
  for (let at = 1; at < text.length; at++) {
    const letter = text.charAt(at);
    if (command.flags?.includes(letter) === true) continue;
    if (command.valued?.includes(letter) !== true) return undefined;
    const value = text.slice(at + 1);
    return { name: `-${letter}`, value: value === '' ? undefined : value, needsValue: value === '' };
  }
  return { name: `-${text.slice(-1)}`, value: undefined, needsValue: false };
}

function valueFault(command: ReadingCommand, name: string, value: string): string | undefined {
  // Git asks the program gpg.program about signatures.
  if (command.words[0] === 'git' && /%G/.test(value))
    return 'its format asks for signatures, which runs a program';
  const isGlob = command.words[0] === 'rg' && (name === '-g' || name === '--glob');
  // A pattern that fits .env makes ripgrep search it.
  if (isGlob && !/^(!|(\*\*\/)?\*\.(?!env|pem|key)[A-Za-z0-9]+$)/.test(value)) {
    return `it is not known what the pattern ${value} takes in`;
  }
  return undefined;
}

async function foldersFault(
  folders: readonly string[] | undefined,
  isGit: boolean,
  { projectPath, places }: ReadingPlaces,
): Promise<Fault | undefined> {
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

async function operandsFault(
  command: ReadingCommand,
  { operands, scripts, given }: Options,
  part: ShellPart,
  at: ReadingPlaces,
): Promise<Fault | undefined> {
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
): Promise<Fault | undefined> {
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
): Promise<Fault | undefined> {
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
): Promise<Fault | undefined> {
  const [script] = operands;
  const all = scripts.length > 0 ? scripts : [script?.kind === 'literal' ? script.value : ''];
  if (!all.every(isPlainSed)) return { why: 'its script may write files or run commands' };
  return pathsFault(scripts.length > 0 ? operands : operands.slice(1), part, at, false);
}

async function findFault(
  words: readonly ShellWord[],
  part: ShellPart,
  at: ReadingPlaces,
): Promise<Fault | undefined> {
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
): Promise<Fault | undefined> {
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

function commandOf(command: ReadingCommand): string {
  return command.words.join(' ');
}

function commandWords(words: readonly ShellWord[]): string {
  const [name, next] = words;
  if (name?.value === 'git' && next?.kind === 'literal') return `git ${next.value}`;
  return name?.text ?? 'this';
}
