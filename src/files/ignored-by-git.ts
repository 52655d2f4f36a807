import { BridgeError } from '../base/errors.js';
import { gitRuns } from '../base/git-slots.js';
import { CheckIgnore, pathIn, unasked } from './check-ignore.js';
import { listedByGit, type GitRun } from './git-listing.js';
import type { IgnoreRules, NameInFolder } from './ignored-names.js';
import { IgnoredInOrder } from './ignored-in-order.js';

/** Names in one folder from which on a git of its own is started for them sooner than another has said them one by one. */
const LARGE_FOLDER = 1_000;

interface Question {
  /** Before the names in it. */
  readonly prefix: string;
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
  readonly #isFirst: boolean;
  #program: CheckIgnore | undefined;
  #inOrder: IgnoredInOrder | undefined;
  readonly #forLargeFolders = new Set<IgnoredInOrder>();
  #fault: Error | undefined;
  #questions: Question[] = [];
  #tracked: Promise<ReadonlySet<string>> | undefined;

  /**
   * `trackedLimitMs`: what the list of tracked files that a rule hits may take. `isFirst`: the walk begins here, and so may keep a
   * git for all its folders; of repositories below there may be many.
   */
  constructor(run: GitRun, trackedLimitMs: number, isFirst: boolean) {
    this.#run = run;
    this.#trackedLimitMs = trackedLimitMs;
    this.#isFirst = isFirst;
  }

  async ignored(folder: string, names: readonly NameInFolder[]): Promise<ReadonlySet<string>> {
    if (names.length === 0) return new Set();
    const prefix = folder === '' ? '' : `${folder}/`;
    const hidden = await (this.#isFirst && names.length < LARGE_FOLDER
      ? this.#ask(folder, names)
      : this.#askAll(folder, names));
    if (hidden.size === 0) return hidden;
    const tracked = await this.trackedYetIgnored();
    for (const name of [...hidden]) if (tracked.has(prefix + name)) hidden.delete(name);
    return hidden;
  }

  /** For one who has many paths at once. It starts with the first call, so that it is there when it is asked. */
  inOrder(): IgnoredInOrder {
    this.#inOrder ??= new IgnoredInOrder(this.#run);
    return this.#inOrder;
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
    const inOrder = [this.#inOrder, ...this.#forLargeFolders].map((git) => git?.close());
    await Promise.allSettled([this.#program?.close(), ...inOrder, this.#tracked]);
  }

  #ask(folder: string, names: readonly NameInFolder[]): Promise<Set<string>> {
    const program = this.#started();
    return new Promise((done, failed) => {
      if (this.#fault !== undefined) return failed(this.#fault);
      const prefix = pathIn(folder);
      this.#questions.push({ prefix, hidden: new Set(), left: names.length, done, failed });
      // What is not written any more has failed by the end of the program.
      void program.ask(
        folder,
        names.map(({ name }) => name),
      );
    });
  }

  /** By a git of its own, which need not say each name at once. */
  async #askAll(folder: string, names: readonly NameInFolder[]): Promise<Set<string>> {
    const git = await this.#inTurn();
    this.#forLargeFolders.add(git);
    // What is not written any more has failed by the end of the program.
    void git.ask(
      folder,
      names.map(({ name }) => name),
    );
    git.end();
    const hidden = new Set<string>();
    for (const { name } of names) {
      let isIgnored = git.next();
      for (; isIgnored === undefined; isIgnored = git.next()) await git.known();
      if (isIgnored) hidden.add(name);
    }
    this.#forLargeFolders.delete(git);
    return hidden;
  }

  async #inTurn(): Promise<IgnoredInOrder> {
    const slot = await gitRuns.take(this.#run.signal);
    try {
      if (this.#fault !== undefined) throw this.#fault;
      return new IgnoredInOrder(this.#run, () => slot.dispose());
    } catch (fault) {
      slot.dispose();
      throw fault;
    }
  }

  #started(): CheckIgnore {
    this.#program ??= new CheckIgnore(this.#run, {
      inBlocks: false,
      judged: (isIgnored, path) => this.#answer(isIgnored, path),
      failed: (fault) => this.#fail(fault),
    });
    return this.#program;
  }

  #answer(isIgnored: boolean, path: string): void {
    const question = this.#questions[0];
    if (question === undefined) throw unasked(path);
    if (isIgnored) question.hidden.add(path.slice(question.prefix.length));
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
