// Pure: the options of a command of the table of reading commands.
import type { ReadingCommand } from './reading-commands.js';
import type { ShellWord } from './shell-part.js';

/** The words of a reading command, taken apart. */
export interface ReadingWords {
  readonly operands: readonly ShellWord[];
  /** An option gave the pattern of a search, or the script of sed. */
  readonly scripts: readonly string[];
  readonly given: ReadonlySet<string>;
}

/** Every option must be one of which it is known that the command only reads with it. */
export function readingWords(
  command: ReadingCommand,
  words: readonly ShellWord[],
): ReadingWords | { readonly fault: string } {
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

/** As a person calls it. */
export function commandOf(command: ReadingCommand): string {
  return command.words.join(' ');
}
