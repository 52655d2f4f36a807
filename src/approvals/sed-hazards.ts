// Pure: which scripts of sed only print.
import type { CommandHazards } from './command-run.js';
import type { Hazard, ShellWord } from './shell-part.js';

/** Lines printed, deleted or replaced: nothing written, nothing run. */
const SED_PLAIN =
  /^(?:(?:\d+|\$|\/[^/\\;{}]*\/)(?:,(?:\+?\d+|\$|\/[^/\\;{}]*\/))?!?)?(?:[pdq=]|s([/|#,:])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpI0-9]*)$/;

/** True for a script of `sed` that only prints. */
export function isPlainSed(script: string): boolean {
  return script.split(';').every((one) => SED_PLAIN.test(one.trim()));
}

/** What sed writes or runs by its options and its script. */
export function sedHazards(words: readonly ShellWord[]): CommandHazards {
  const hazards: Hazard[] = [];
  let script: number | undefined;
  for (const [word, { value, kind }] of words.entries()) {
    if (word === 0) continue;
    if (kind !== 'literal') continue;
    if (/^-[nErsuz]*i|^--in-place/.test(value)) hazards.push({ why: `${value} writes the files`, word });
    else if (/^-[nErsuz]*f|^--file/.test(value)) hazards.push({ why: 'its script comes from a file', word });
    else if (/^(-[nErsuz]*e.*|--expression.*)$/.test(value)) hazards.push(...sedScript(words, word, value));
    else if (!value.startsWith('-') && script === undefined) {
      script = word;
      if (!hasScriptOption(words)) hazards.push(...plainOrHazard(value, word));
    }
  }
  return { hazards, runs: [] };
}

function hasScriptOption(words: readonly ShellWord[]): boolean {
  return words.some(({ value }, index) => index > 0 && /^(-[nErsuz]*[ef]|--expression|--file)/.test(value));
}

function sedScript(words: readonly ShellWord[], word: number, value: string): Hazard[] {
  const own = /^(?:-[nErsuz]*e|--expression=)([^]+)$/.exec(value)?.[1];
  return plainOrHazard(own ?? words[word + 1]?.value ?? '', own === undefined ? word + 1 : word);
}

function plainOrHazard(script: string, word: number): Hazard[] {
  return isPlainSed(script) ? [] : [{ why: 'its script may write files or run commands', word }];
}
