// The commands of a shell line, as rules judge them.
import type { Token } from '../wildcard.js';

/** A longer line is not read: it is asked about as a whole. */
export const MAX_LINE_CHARS = 20_000;

/** One word of a command, quotes taken away. */
export interface ShellWord {
  /** As it stands in the line. */
  readonly text: string;
  /** What the program is given, as far as it is known; `ANY_TEXT` stands for what only the run will show. */
  readonly tokens: readonly Token[];
  /** The program's argument, when it is known to be just this; a `glob` holds wildcards that stand for names of files. */
  readonly kind: 'literal' | 'glob' | 'unknown';
  /** Of a `literal` the argument, of a `glob` its text with the wildcards. */
  readonly value: string;
  /** An unquoted `~` at its beginning: the shell puts a home folder there. */
  readonly hasTilde: boolean;
}

export interface ShellRedirect {
  /** `copy` is one descriptor onto another, `text` a here-document or here-string. */
  readonly use: 'read' | 'write' | 'copy' | 'text';
  readonly target: ShellWord | undefined;
}

/** One command of a line. */
export interface ShellPart {
  /** As it stands in the line. */
  readonly text: string;
  /** Assignments before the command, `NAME=value`. */
  readonly assignments: readonly string[];
  /** The command and its arguments; empty for assignments or redirections alone. */
  readonly words: readonly ShellWord[];
  readonly redirects: readonly ShellRedirect[];
  /** Folders in which it may run, absolute; undefined when nobody can say. */
  readonly folders: readonly string[] | undefined;
  /** Commands that this one runs: of substitutions, of `sh -c`, behind `sudo`, … */
  readonly nested: readonly ShellPart[];
  /** A command that is not known at all, such as what `eval "$x"` runs. */
  readonly isOpaque: boolean;
}

/** A shell line taken apart. */
export interface ShellLine {
  readonly parts: readonly ShellPart[];
  /** Why the line could not be read whole, so that it may hold other commands, too; empty when it was. */
  readonly faults: readonly string[];
}
