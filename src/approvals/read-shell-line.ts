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
import { commandHazards } from './command-hazards.js';
import { hasLooseBrackets } from './loose-brackets.js';
import { foldersAfter, same, union, type Folders } from './shell-folders.js';
import {
  readArgument,
  readRedirect,
  redirectHazards,
  assignmentHazard,
  substitutionHazards,
  unknownHazards,
  opaquePart,
  wordsText,
} from './shell-nodes.js';
import type { Hazard, ShellLine, ShellPart, ShellWord } from './shell-part.js';

/** A longer line is not judged: it is asked about as a whole. */
export const MAX_LINE_CHARS = 20_000;
/** More commands than a person would read. */
const MAX_PARTS = 500;
/** Commands in commands in commands; deeper ones are not looked at. */
const MAX_DEPTH = 6;
/** Terminals, editors and shells disagree about these; a person sees one line where the shell sees another. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u2064\u2066-\u206f\ufeff]/;

type Syntax = typeof Unbash;

/**
 * Takes a shell line apart into its commands, those inside others too. Never throws for a line: what cannot be read says
 * so. `folder`: where the line begins, absolute.
 */
export async function readShellLine(line: string, folder: string): Promise<ShellLine> {
  if (line.length > MAX_LINE_CHARS) {
    return {
      text: line,
      parts: [],
      hazards: [`it is longer than ${MAX_LINE_CHARS} characters`],
      isRead: false,
    };
  }
  // 10 ms that a task without shell lines to judge does not pay.
  const reader = new ShellReader(await import('unbash'), 0);
  const parts = reader.read(line, [folder]);
  return { text: line, parts, hazards: [...reader.hazards], isRead: reader.isRead };
}

class ShellReader {
  readonly #syntax: Syntax;
  readonly #depth: number;
  readonly hazards = new Set<string>();
  isRead = true;
  #source = '';
  #parts: ShellPart[] = [];

  constructor(syntax: Syntax, depth: number) {
    this.#syntax = syntax;
    this.#depth = depth;
  }

  read(line: string, folders: readonly string[] | undefined): ShellPart[] {
    const script = this.#parse(line);
    if (script === undefined) return [];
    return this.#readScript(script, line, folders);
  }

  #parse(line: string): ParsedScript | undefined {
    if (UNSEEN.test(line)) this.#lose('it holds characters that cannot be seen');
    try {
      return this.#syntax.parse(line);
    } catch (fault) {
      if (!(fault instanceof RangeError)) throw fault;
      // The parser calls itself for each bracket.
      this.#lose('its brackets are nested too deeply');
      return undefined;
    }
  }

  #readScript(script: ParsedScript, source: string, folders: readonly string[] | undefined): ShellPart[] {
    const outerSource = this.#source;
    const outerParts = this.#parts;
    this.#source = script.source ?? source;
    this.#parts = [];
    const [fault] = script.errors ?? [];
    if (fault !== undefined) this.#lose(`it cannot be read as a shell line (${fault.message})`);
    if (hasLooseBrackets(script, this.#source, this.#syntax)) this.#lose('its brackets do not pair');
    this.#statements(script.commands, folders);
    const parts = this.#parts;
    this.#source = outerSource;
    this.#parts = outerParts;
    return parts;
  }

  #lose(why: string): void {
    this.isRead = false;
    this.hazards.add(why);
  }

  #statements(
    statements: readonly Statement[],
    folders: readonly string[] | undefined,
  ): readonly string[] | undefined {
    let current = folders;
    for (const { command, background } of statements) {
      if (background === true) {
        this.hazards.add('a part of it is left running in the background');
        this.#list(command, current);
      } else {
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
        this.hazards.add('it defines a function');
        this.#loose(node, undefined);
        return same(folders);
      case 'Coproc':
        this.hazards.add('it starts a coprocess');
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
        this.hazards.add('it holds a test, a calculation or a menu that is not judged');
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
      if (child.type === 'Script') this.#push(...this.#readScript(child, this.#source, folders));
      else if (child.type === 'CompoundList') this.#body(child, folders);
      else if (child.type === 'Command') this.#simple(child, folders);
      else this.#loose(child, folders);
    });
  }

  /** Commands of the substitutions in a word that belongs to no command of its own. */
  #substitutions(node: SyntaxNode, folders: readonly string[] | undefined): void {
    const found = this.#scriptsIn(node, folders);
    if (found.length === 0) return;
    this.hazards.add('it puts the output of another command in place');
    this.#push(...found);
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
    this.#push({
      text: this.#source.slice(node.redirects[0]?.pos ?? node.pos, node.end),
      assignments: [],
      words: [],
      redirects: node.redirects.map(readRedirect),
      hazards: [...substitutionHazards(nested), ...node.redirects.flatMap(redirectHazards)],
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
    this.#push(part);
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
    const found = commandHazards(words);
    const nested = [...substituted];
    for (const run of found.runs) {
      const isTooDeep = this.#depth >= MAX_DEPTH;
      if (run.kind === 'unknown' || isTooDeep)
        nested.push(opaquePart(run.kind === 'words' ? text : run.text, folders));
      else if (run.kind === 'words')
        nested.push(this.#deeper().#part(wordsText(run.words), [], run.words, [], [], folders));
      else nested.push(...this.#readText(run.text, folders));
    }
    return {
      text,
      assignments,
      words,
      redirects: redirections.map(readRedirect),
      hazards: [
        ...assignments.map((one, index): Hazard => assignmentHazard(one, index - assignments.length)),
        ...substitutionHazards(substituted),
        ...unknownHazards(words),
        ...found.hazards,
        ...redirections.flatMap(redirectHazards),
      ],
      folders,
      nested,
      isOpaque: false,
    };
  }

  /** A text that a command hands to a shell. */
  #readText(text: string, folders: readonly string[] | undefined): ShellPart[] {
    const reader = this.#deeper();
    const parts = reader.read(text, folders);
    if (reader.isRead) return parts;
    this.isRead = false;
    return [...parts, opaquePart(text, folders)];
  }

  #deeper(): ShellReader {
    return new ShellReader(this.#syntax, this.#depth + 1);
  }

  #push(...parts: readonly ShellPart[]): void {
    if (this.#parts.length + parts.length > MAX_PARTS) this.#lose(`it holds more than ${MAX_PARTS} commands`);
    else this.#parts.push(...parts);
  }
}
