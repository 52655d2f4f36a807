import type {
  Command,
  CommandNode,
  CompoundCommand,
  CompoundList,
  ParsedScript,
  PipelineNode,
  Redirected,
  Redirection,
  Statement,
  SyntaxNode,
} from 'unbash';
import type * as Unbash from 'unbash';
import { commandRuns } from './command-runs.js';
import { hiddenCommand } from './hidden-commands.js';
import { hasUnmatchedBracket } from './unmatched-brackets.js';
import { foldersAfter, same, union, type Folders } from './shell-folders.js';
import { opaquePart, readArgument, readRedirect, wordsText } from './shell-nodes.js';
import { MAX_LINE_CHARS, type ShellLine, type ShellPart, type ShellWord } from './shell-part.js';
import { hasUnseen } from '../../base/text/unseen-characters.js';

/** Commands of one line, including nested ones: more than a person would read. */
const MAX_PARTS = 500;
/** Levels of nested commands that are parsed. */
const MAX_DEPTH = 6;

type Syntax = typeof Unbash;

/**
 * Splits a shell line into its commands, including nested ones, so that deny and ask rules find them. `problems` of the result
 * says what could not be read. `folder` is the absolute working directory.
 */
export async function readShellLine(line: string, folder: string): Promise<ShellLine> {
  if (line.length > MAX_LINE_CHARS)
    return { parts: [], problems: [`it is longer than ${MAX_LINE_CHARS} characters`] };
  // Loading takes 10 ms, so it happens only for a task that has shell lines to check.
  const reader = new ShellReader(await import('unbash'), { left: MAX_PARTS, problems: new Set() }, 0);
  try {
    const parts = reader.read(line, [folder]);
    return { parts, problems: [...reader.shared.problems] };
  } catch (error) {
    // Parser and reader are recursive: nested brackets or quotes can exhaust the stack.
    if (!(error instanceof RangeError)) throw error;
    return { parts: [], problems: ['it is nested too deeply'] };
  }
}

/** State shared by all readers of one line. */
interface Shared {
  /** Commands that may still be read. */
  left: number;
  readonly problems: Set<string>;
}

class ShellReader {
  readonly #syntax: Syntax;
  readonly shared: Shared;
  readonly #depth: number;
  #source = '';
  #parts: ShellPart[] = [];

  constructor(syntax: Syntax, shared: Shared, depth: number) {
    this.#syntax = syntax;
    this.shared = shared;
    this.#depth = depth;
  }

  read(line: string, folders: readonly string[] | undefined): ShellPart[] {
    if (hasUnseen(line)) this.#fail('it contains invisible characters');
    return this.#readScript(this.#syntax.parse(line), line, folders);
  }

  #readScript(script: ParsedScript, source: string, folders: readonly string[] | undefined): ShellPart[] {
    if (!this.#countCommand()) return [];
    const outerSource = this.#source;
    const outerParts = this.#parts;
    this.#source = script.source ?? source;
    this.#parts = [];
    const [error] = script.errors ?? [];
    if (error !== undefined) this.#fail(`it cannot be parsed as a shell line (${error.message})`);
    if (hasUnmatchedBracket(script, this.#source, this.#syntax)) this.#fail('its brackets do not match');
    const hidden = hiddenCommand(script, this.#syntax);
    if (hidden !== undefined) this.#fail(hidden);
    this.#statements(script.commands, folders);
    const parts = this.#parts;
    this.#source = outerSource;
    this.#parts = outerParts;
    return parts;
  }

  #fail(why: string): void {
    this.shared.problems.add(why);
  }

  #statements(
    statements: readonly Statement[],
    folders: readonly string[] | undefined,
  ): readonly string[] | undefined {
    let current = folders;
    for (const { command, background } of statements) {
      if (background === true) this.#list(command, current);
      else {
        const { ifOk, ifFailed } = this.#list(command, current);
        current = union(ifOk, ifFailed);
      }
    }
    return current;
  }

  #list(node: Statement['command'], folders: readonly string[] | undefined): Folders {
    if (node.type !== 'AndOr') return this.#pipeline(node, folders);
    let after: Folders | undefined;
    for (const [index, command] of node.commands.entries()) {
      if (after === undefined) after = this.#pipeline(command, folders);
      else if (node.operators[index - 1] === '&&') {
        const next = this.#pipeline(command, after.ifOk);
        after = { ifOk: next.ifOk, ifFailed: union(after.ifFailed, next.ifFailed) };
      } else {
        const next = this.#pipeline(command, after.ifFailed);
        after = { ifOk: union(after.ifOk, next.ifOk), ifFailed: next.ifFailed };
      }
    }
    return after ?? same(folders);
  }

  #pipeline(node: PipelineNode, folders: readonly string[] | undefined): Folders {
    if (node.type !== 'Pipeline') return this.#command(node, folders);
    const [only] = node.commands;
    if (node.commands.length === 1 && only !== undefined) {
      const { ifOk, ifFailed } = this.#command(only, folders);
      // `! cd x` succeeds when `cd` fails.
      return same(union(ifOk, ifFailed));
    }
    // Each command of a pipeline runs in its own subshell.
    for (const command of node.commands) this.#command(command, folders);
    return same(folders);
  }

  #command(node: CommandNode, folders: readonly string[] | undefined): Folders {
    switch (node.type) {
      case 'Command':
        return this.#simple(node, folders);
      case 'Redirected':
        return this.#redirected(node, folders);
      case 'Function':
      case 'Coproc':
        this.#commandsBelow(node, undefined);
        return same(folders);
      default:
        return same(this.#compound(node, folders));
    }
  }

  #compound(node: CompoundCommand, folders: readonly string[] | undefined): readonly string[] | undefined {
    switch (node.type) {
      case 'BraceGroup':
        return this.#body(node.body, folders);
      case 'Subshell':
        this.#body(node.body, folders);
        return folders;
      case 'If': {
        let after = this.#body(node.clause, folders);
        const ends = [this.#body(node.then, after)];
        for (const { clause, then } of node.elif) {
          after = this.#body(clause, after);
          ends.push(this.#body(then, after));
        }
        ends.push(node.else === undefined ? after : this.#body(node.else, after));
        return ends.reduce(union);
      }
      case 'For':
        for (const word of node.wordlist ?? []) this.#substitutions(word, folders);
        return this.#repeated((at) => this.#body(node.body, at), folders);
      case 'While':
        return this.#repeated((at) => this.#body(node.body, this.#body(node.clause, at)), folders);
      case 'Case': {
        this.#substitutions(node.word, folders);
        const ends = node.items.map((item) => {
          for (const word of item.pattern) this.#substitutions(word, folders);
          return this.#body(item.body, folders);
        });
        return ends.reduce(union, folders);
      }
      default:
        this.#commandsBelow(node, folders);
        return undefined;
    }
  }

  #body(list: CompoundList, folders: readonly string[] | undefined): readonly string[] | undefined {
    return this.#statements(list.commands, folders);
  }

  /** A loop that changes the folder may do so any number of times, so its folders are unknown. */
  #repeated(
    walk: (folders: readonly string[] | undefined) => readonly string[] | undefined,
    folders: readonly string[] | undefined,
  ): readonly string[] | undefined {
    const before = this.#parts.length;
    const after = walk(folders);
    if (after?.join('\0') === folders?.join('\0')) return folders;
    this.#parts.length = before;
    walk(undefined);
    return undefined;
  }

  /** Finds commands anywhere below a node that has no handling of its own. */
  #commandsBelow(node: SyntaxNode, folders: readonly string[] | undefined): void {
    this.#syntax.forEachChild(node, (child) => {
      if (child.type === 'Script') this.#parts.push(...this.#readScript(child, this.#source, folders));
      else if (child.type === 'CompoundList') this.#body(child, folders);
      else if (child.type === 'Command') this.#simple(child, folders);
      else this.#commandsBelow(child, folders);
    });
  }

  /** Adds commands of the substitutions in a word that is not part of a command. */
  #substitutions(node: SyntaxNode, folders: readonly string[] | undefined): void {
    this.#parts.push(...this.#scriptsIn(node, folders));
  }

  #scriptsIn(node: SyntaxNode, folders: readonly string[] | undefined): ShellPart[] {
    const found: ShellPart[] = [];
    const visit = (child: SyntaxNode): void => {
      if (child.type === 'Script') found.push(...this.#readScript(child, this.#source, folders));
      else this.#syntax.forEachChild(child, visit);
    };
    this.#syntax.forEachChild(node, visit);
    return found;
  }

  #redirected(node: Redirected, folders: readonly string[] | undefined): Folders {
    const after = this.#compound(node.command, folders);
    const nested = node.redirects.flatMap((redirect) => this.#scriptsIn(redirect, folders));
    this.#parts.push({
      text: this.#source.slice(node.redirects[0]?.pos ?? node.pos, node.end),
      assignments: [],
      words: [],
      redirects: node.redirects.map(readRedirect),
      folders,
      nested,
      isOpaque: false,
    });
    return same(after);
  }

  #simple(node: Command, folders: readonly string[] | undefined): Folders {
    const prefix = node.prefix.filter((one) => one.type === 'Assignment');
    const words = [...(node.name === undefined ? [] : [node.name]), ...node.args].map(readArgument);
    const substituted = this.#scriptsIn(node, folders);
    const part = this.#part(
      this.#source.slice(node.pos, node.end),
      prefix.map((one) => one.text),
      words,
      node.redirects,
      substituted,
      folders,
    );
    this.#parts.push(part);
    return foldersAfter(part, folders);
  }

  #part(
    text: string,
    assignments: readonly string[],
    words: readonly ShellWord[],
    redirections: readonly Redirection[],
    substituted: readonly ShellPart[],
    folders: readonly string[] | undefined,
  ): ShellPart {
    if (!this.#countCommand()) return opaquePart(text, folders);
    const nested = [...substituted];
    const read = {
      text,
      assignments,
      words,
      redirects: redirections.map(readRedirect),
      folders,
      nested,
      isOpaque: false,
    };
    for (const run of commandRuns(words)) {
      if (this.shared.left < 0) break;
      if (run.kind === 'unknown' || this.#depth >= MAX_DEPTH)
        nested.push(opaquePart(run.kind === 'words' ? text : run.text, folders));
      else if (run.kind === 'words')
        nested.push(this.#deeper().#part(wordsText(run.words), [], run.words, [], [], folders));
      else nested.push(...this.#deeper().read(run.text, folders));
    }
    return read;
  }

  #deeper(): ShellReader {
    return new ShellReader(this.#syntax, this.shared, this.#depth + 1);
  }

  /** Counts one more command; returns false when there are too many. */
  #countCommand(): boolean {
    this.shared.left--;
    if (this.shared.left >= 0) return true;
    this.#fail(`it contains more than ${MAX_PARTS} commands`);
    return false;
  }
}
