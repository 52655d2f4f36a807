// Pure: finds what a shell runs that a command starts.
import { isScriptFile } from './plain-builtins.js';
import type { ShellWord } from './shell-part.js';

/** Shells whose commands the bash parser can read, with an optional version after the name. */
const READABLE = /^r?(ba|z|da|k|a|mk|pdk|ya)?sh[\d.-]*$/;
const OTHER_SHELLS =
  /^(r?(fi|c|tc|pw|ys|os|ion|xon|elvi|ok|lok)sh|xonsh|nu|elvish|rc|es|powershell)(-[a-z]+)?[\d.-]*$/;
const OPTION_NAMES = /^(pipefail|errexit|nounset|xtrace|noglob|noclobber|verbose|posix)$/;
const LONG_FLAGS = /^--(norc|noprofile|login|posix|verbose)$/;

/** Whether a program of this name reads commands. */
export function isShell(name: string): boolean {
  return READABLE.test(name) || OTHER_SHELLS.test(name);
}

/** The word whose text a shell runs; `none` for a file, which is not read; undefined when the arguments are not understood. */
export function shellText(name: string, args: readonly ShellWord[]): ShellWord | 'none' | undefined {
  if (!READABLE.test(name)) return undefined;
  const [first] = args;
  if (args.length === 1 && first?.kind === 'literal' && /^--(version|help)$/.test(first.value)) return 'none';
  let isText = false;
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined) return undefined;
    if (!/^[-+]/.test(word.value) || word.kind !== 'literal')
      return isText ? word : isScriptFile(word) ? 'none' : undefined;
    if (word.value === '--' && isText) return args[at + 1];
    if (/^[-+][efhiluvxn]*o$/.test(word.value)) {
      const option = args[++at];
      if (option?.kind !== 'literal' || !OPTION_NAMES.test(option.value)) return undefined;
    } else if (/^-[efhiluvxnc]+$/.test(word.value)) isText ||= word.value.includes('c');
    else if (!/^\+[efhuvxn]+$/.test(word.value) && !LONG_FLAGS.test(word.value)) return undefined;
  }
  // It reads commands from its input.
  return undefined;
}
