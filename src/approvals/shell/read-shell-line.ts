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
import { hasLooseBrackets } from './loose-brackets.js';
import { foldersAfter, same, union, type Folders } from './shell-folders.js';
import { opaquePart, readArgument, readRedirect, wordsText } from './shell-nodes.js';
import { MAX_LINE_CHARS, type ShellLine, type ShellPart, type ShellWord } from './shell-part.js';
import { hasUnseen } from '../../base/text/unseen-characters.js';

/** Commands of one line, with all that are in others: more than a person would read. */
const MAX_PARTS = 500;
/** Commands in commands in commands; deeper ones are not read. */
const MAX_DEPTH = 6;

type Syntax = typeof Unbash;

/**
 * Takes a shell line apart into its commands, those inside others too, so that rules which deny or ask find them. What cannot
 * be read is an error of the result. `folder`: where the line begins, absolute.
 */
export async function readShellLine(line: string, folder: string): Promise<ShellLine> {
  if (line.length > MAX_LINE_CHARS)
    return { parts: [], faults: [`it is longer than ${MAX_LINE_CHARS} characters`] };
  // 10 ms that a task without shell lines to judge does not pay.
  const reader = new ShellReader(await import('unbash'), { left: MAX_PARTS, faults: new Set() }, 0);
  try {
    const parts = reader.read(line, [folder]);
    return { parts, faults: [...reader.shared.faults] };
  } catch (error) {
    // Parser and reader call themselves for what stands in brackets and quotes.
    if (!(error instanceof RangeError)) throw error;
    return { parts: [], faults: ['it is nested too deeply'] };
  }
}

/** Of all readers of one line. */
interface Shared {
  /** Commands that may still be read. */
  left: number;
  readonly faults: Set<string>;
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
    if (hasUnseen(line)) this.#lose('it holds characters that cannot be seen');
    return this.#readScript(this.#syntax.parse(line), line, folders);
  }

  #readScript(script: ParsedScript, source: string, folders: readonly string[] | undefined): ShellPart[] {
    if (!this.#spend()) return [];
    const outerSource = this.#source;
    const outerParts = this.#parts;
    this.#source = script.source ?? source;
    this.#parts = [];
    const [fault] = script.errors ?? [];
    if (fault !== undefined) this.#lose(`it cannot be read as a shell line (${fault.message})`);
    if (hasLooseBrackets(script, this.#source, this.#syntax)) this.#lose('its brackets do not pair');
    const hidden = hiddenCommand(script, this.#syntax);
    if (hidden !== undefined) this.#lose(hidden);
    this.#statements(script.commands, folders);
    const parts = this.#parts;
    this.#source = outerSource;
    this.#parts = outerParts;
    return parts;
  }

  #lose(why: string): void {
    this.shared.faults.add(why);
  }

  #statements(
    statements: readonly Statement[],
    folders: readonly string[] | undefined,
  ): readonly string[] | undefined {
    let current = folders;
    for (const { command, background } of statements) {
      if (background === true) this.#list(command, current);
      else {
        const { afterOk, afterFault } = this.#list(command, current);
        current = union(afterOk, afterFault);
      }
    }
    return current;
  }

  #list(node: Statement['command'], folders: readonly string[] | undefined): Folders {
    if (node.type !== 'AndOr') return this.#pipeline(node, folders);
    let so: Folders | undefined;
    for (const [index, command] of node.commands.entries()) {
      if (so === undefined) so = this.#pipeline(command, folders);
      else if (node.operators[index - 1] === '&&') {
        const next = this.#pipeline(command, so.afterOk);
        so = { afterOk: next.afterOk, afterFault: union(so.afterFault, next.afterFault) };
      } else {
        const next = this.#pipeline(command, so.afterFault);
        so = { afterOk: union(so.afterOk, next.afterOk), afterFault: next.afterFault };
      }
    }
    return so ?? same(folders);
  }

  #pipeline(node: PipelineNode, folders: readonly string[] | undefined): Folders {
    if (node.type !== 'Pipeline') return this.#command(node, folders);
    const [only] = node.commands;
    if (node.commands.length === 1 && only !== undefined) {
      const { afterOk, afterFault } = this.#command(only, folders);
      // `! cd x` goes well when the change failed.
      return same(union(afterOk, afterFault));
    }
    // Each command of a pipe has a shell of its own.
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
        this.#loose(node, undefined);
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
        this.#loose(node, folders);
        return undefined;
    }
  }

  #body(list: CompoundList, folders: readonly string[] | undefined): readonly string[] | undefined {
    return this.#statements(list.commands, folders);
  }

  /** A loop that changes the folder may have done so any number of times. */
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

  /** Looks for commands anywhere below a node that is not judged itself. */
  #loose(node: SyntaxNode, folders: readonly string[] | undefined): void {
    this.#syntax.forEachChild(node, (child) => {
      if (child.type === 'Script') this.#parts.push(...this.#readScript(child, this.#source, folders));
      else if (child.type === 'CompoundList') this.#body(child, folders);
      else if (child.type === 'Command') this.#simple(child, folders);
      else this.#loose(child, folders);
    });
  }

  /** Commands of the substitutions in a word that belongs to no command of its own. */
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
    if (!this.#spend()) return opaquePart(text, folders);
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

  /** Counts one more command; false when there have been too many. */
  #spend(): boolean {
    this.shared.left--;
    if (this.shared.left >= 0) return true;
    this.#lose(`it holds more than ${MAX_PARTS} commands`);
    return false;
  }
}
