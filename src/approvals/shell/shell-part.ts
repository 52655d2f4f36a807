// The commands of a shell line, as rules see them.
import type { Token } from '../wildcard.js';

/** A longer line is not parsed; the verdict is to ask. */
export const MAX_LINE_CHARS = 20_000;

/** One word of a command, without its quotes. */
export interface ShellWord {
  /** As written in the line. */
  readonly text: string;
  /** The program's argument as far as it is known; `ANY_TEXT` is a piece known only at run time. */
  readonly tokens: readonly Token[];
  /** A `literal` is exactly the program's argument; a `glob` contains wildcards for file names. */
  readonly kind: 'literal' | 'glob' | 'unknown';
  /** The argument of a `literal`, or the text of a `glob` with its wildcards. */
  readonly value: string;
  /** True when the word begins with an unquoted `~`, which the shell replaces with a home folder. */
  readonly hasTilde: boolean;
}

export interface ShellRedirect {
  /** `copy` duplicates a descriptor, `text` is a here-document or here-string. */
  readonly use: 'read' | 'write' | 'copy' | 'text';
  readonly target: ShellWord | undefined;
}

/** One command of a line. */
export interface ShellPart {
  /** As written in the line. */
  readonly text: string;
  /** Assignments before the command, `NAME=value`. */
  readonly assignments: readonly string[];
  /** The command and its arguments; empty for mere assignments or redirections. */
  readonly words: readonly ShellWord[];
  readonly redirects: readonly ShellRedirect[];
  /** Absolute folders in which it may run; undefined when unknown. */
  readonly folders: readonly string[] | undefined;
  /** Commands that this one runs: in substitutions, in `sh -c`, after `sudo`, … */
  readonly nested: readonly ShellPart[];
  /** True for an unknown command, such as the one that `eval "$x"` runs. */
  readonly isOpaque: boolean;
}

/** A parsed shell line. */
export interface ShellLine {
  readonly parts: readonly ShellPart[];
  /** Why parts of the line could not be read, so that it may contain other commands; empty when all of it was read. */
  readonly problems: readonly string[];
}
