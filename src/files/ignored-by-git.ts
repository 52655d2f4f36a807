import { BridgeError } from '../base/errors.js';
import { gitFault, listedByGit, type GitRun } from './git-listing.js';
import type { IgnoreRules, NameInFolder } from './ignored-names.js';
import { runProgram, type RunningProgram } from './search-program.js';

/** What `git check-ignore -v` says of one path: file, line, pattern, path. */
const FIELDS = 4;

interface Question {
  readonly folder: string;
  readonly hidden: Set<string>;
  left: number;
  readonly done: (hidden: Set<string>) => void;
  readonly failed: (fault: unknown) => void;
}

/**
 * git's own answer, from one process for the whole listing. Tracked files are never ignored; they are asked for once, when
 * a rule hits, rather than by `check-ignore` itself, which would go through the whole index for every name.
 */
export class RulesOfGit implements IgnoreRules {
  readonly isGit = true;
  readonly #run: GitRun;
  readonly #trackedLimitMs: number;
  #program: RunningProgram | undefined;
  #fault: Error | undefined;
  #questions: Question[] = [];
  #rest = '';
  #fields: string[] = [];
  #tracked: Promise<ReadonlySet<string>> | undefined;

  /** `trackedLimitMs`: what the list of tracked files that a rule hits may take. */
  constructor(run: GitRun, trackedLimitMs: number) {
    this.#run = run;
    this.#trackedLimitMs = trackedLimitMs;
  }

  async ignored(folder: string, names: readonly NameInFolder[]): Promise<ReadonlySet<string>> {
    if (names.length === 0) return new Set();
    const prefix = folder === '' ? '' : `${folder}/`;
    const hidden = await this.#ask(folder, names);
    if (hidden.size === 0) return hidden;
    const tracked = await this.trackedYetIgnored();
    for (const name of [...hidden]) if (tracked.has(prefix + name)) hidden.delete(name);
    return hidden;
  }

  /** Starts what will answer, so that it is there when it is asked. */
  begin(): void {
    this.#started();
  }

  /** Paths of tracked files that a rule hits, and of the folders above them: shown all the same. Of all where that takes too long. */
  trackedYetIgnored(): Promise<ReadonlySet<string>> {
    if (this.#tracked === undefined) {
      this.#tracked = this.#listTracked();
      // Whoever awaits it hears of it; nobody may, when the call is over first.
      this.#tracked.catch(() => undefined);
    }
    return this.#tracked;
  }

  async close(): Promise<void> {
    this.#fault ??= new Error('The listing is over.');
    this.#program?.kill();
    // However it ended: nobody asks it any more.
    await Promise.allSettled([this.#program?.ended, this.#tracked]);
  }

  #ask(folder: string, names: readonly NameInFolder[]): Promise<Set<string>> {
    // check-ignore knows no literal names; after `./` a colon is no magic.
    const prefix = folder === '' ? './' : `./${folder}/`;
    const program = this.#started();
    return new Promise((done, failed) => {
      if (this.#fault !== undefined) return failed(this.#fault);
      this.#questions.push({ folder: prefix, hidden: new Set(), left: names.length, done, failed });
      // What is not written any more has failed by the end of the program.
      void program.write(names.map(({ name }) => `${prefix}${name}\0`).join(''));
    });
  }

  #started(): RunningProgram {
    if (this.#program !== undefined) return this.#program;
    const args = ['--no-pager', 'check-ignore', '--no-index', '-z', '-v', '-n', '--stdin'];
    const decoder = new TextDecoder();
    const program = runProgram({ program: 'git', args, ...this.#run }, (chunk) =>
      this.#take(decoder.decode(chunk, { stream: true })),
    );
    program.ended.then(
      (code) => this.#fail(gitFault('check-ignore', code, program.stderr())),
      (fault: unknown) => this.#fail(fault instanceof Error ? fault : new Error('cancelled')),
    );
    this.#program = program;
    return program;
  }

  #take(text: string): void {
    const fields = (this.#rest + text).split('\0');
    this.#rest = fields.pop() ?? '';
    this.#fields.push(...fields);
    let at = 0;
    for (; at + FIELDS <= this.#fields.length; at += FIELDS) {
      this.#answer(this.#fields[at + 2] ?? '', this.#fields[at + FIELDS - 1] ?? '');
    }
    this.#fields = this.#fields.slice(at);
  }

  #answer(pattern: string, path: string): void {
    const question = this.#questions[0];
    if (question === undefined) throw unexpected(path);
    // Without a rule the pattern is empty; with `!` the rule says that it is not ignored.
    if (pattern !== '' && !pattern.startsWith('!')) question.hidden.add(path.slice(question.folder.length));
    question.left--;
    if (question.left > 0) return;
    this.#questions.shift();
    question.done(question.hidden);
  }

  #fail(fault: Error): void {
    this.#fault ??= fault;
    for (const question of this.#questions) question.failed(this.#fault);
    this.#questions = [];
  }

  async #listTracked(): Promise<ReadonlySet<string>> {
    try {
      return await this.#listed(['-c', '-i', '--exclude-standard'], this.#trackedLimitMs);
    } catch (fault) {
      if (!(fault instanceof BridgeError) || this.#run.signal.aborted) throw fault;
      // It waits for a pipe in the place of an ignore file. All that is tracked says the same: it is asked about what is ignored.
      return this.#listed(['-c'], undefined);
    }
  }

  async #listed(args: readonly string[], timeLimitMs: number | undefined): Promise<ReadonlySet<string>> {
    const paths = new Set<string>();
    const run = timeLimitMs === undefined ? this.#run : { ...this.#run, timeLimitMs };
    await listedByGit(run, args, (path) => {
      for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
        paths.add(path.slice(0, end));
    });
    return paths;
  }
}

function unexpected(path: string): BridgeError {
  return gitFault(
    'check-ignore',
    'unreadable',
    `it answered for ${JSON.stringify(path.slice(0, 100))} unasked`,
  );
}
