import { basename } from 'node:path';

/** How a shell is started so that its prompt says that a command has ended, and how. */
export interface PromptShell {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Shells of which the editor knows when a command begins and ends. */
const INTEGRATED = new Set(['bash', 'zsh', 'fish', 'pwsh']);
/** Of these, shells with which the editor reports an empty line as a command. */
const ANSWERS_EMPTY_LINE = new Set(['bash', 'zsh']);
/** Without a line editor of its own the terminal shows what is typed, and tabs are text. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  sh: ['-i'],
  dash: ['-i'],
  ash: ['-i'],
  ksh: ['-i'],
  mksh: ['-i'],
  bash: ['--noprofile', '--norc', '--noediting', '-i'],
};
const PROMPT = '$ ';

export function hasIntegration(shell: string): boolean {
  return INTEGRATED.has(basename(shell));
}

/** Whether the editor reports the end of an empty line that is typed into this shell. */
export function answersEmptyLine(shell: string): boolean {
  return ANSWERS_EMPTY_LINE.has(basename(shell));
}

/** Undefined for a shell that cannot be started so. */
export function promptShell(shell: string, marks: Marks): PromptShell | undefined {
  const args = ARGUMENTS[basename(shell)];
  if (args === undefined) return undefined;
  return {
    args,
    // A file named by ENV would set another prompt.
    env: { PS1: `${marks.ended('$?')}${PROMPT}`, PS2: '> ', ENV: '' },
  };
}

/** What the shell prints besides the output: with a random value, so that a program's output is not taken for it. */
export class Marks {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** At the prompt. */
  ended(code: string): string {
    return `\u001b]633;E${this.#secret};${code}\u0007`;
  }

  /** Before the output; its octal form is typed. */
  get begun(): string {
    return `\u001b]633;B${this.#secret}\u0007`;
  }

  /** Either of them, and how much of one may be at the end of a piece. */
  get pattern(): RegExp {
    return new RegExp(String.raw`\u001b\]633;(?:B${this.#secret}|E${this.#secret};(\d+))\u0007`);
  }

  get maxChars(): number {
    return this.ended('').length + 12;
  }
}

/**
 * What is typed for a command: a mark, and then all of it in one `eval`, which also tells an error of syntax and ends. A terminal takes
 * lines of some 4,000 bytes, so a long command is typed in several, joined by the shell.
 */
export function typedCommand(line: string, marks: Marks): string {
  const mark = marks.begun.replace('\u001b', String.raw`\033`).replace('\u0007', String.raw`\007`);
  const pieces = line.match(/[\s\S]{1,800}/gu) ?? [''];
  const words = pieces.map((piece) => `'${piece.replaceAll("'", String.raw`'\''`)}'`).join('\\\n');
  return `printf '${mark}'; eval ${words}\n`;
}
