import { BridgeError } from '../base/errors.js';
import { gitFault, type GitRun } from './git-listing.js';
import { runProgram, type RunningProgram } from './search-program.js';

/** What `git check-ignore -v` says of one path: file, line, pattern, path. */
const FIELDS = 4;
/** Each answer is a write of its own otherwise, and takes as long again as what it answers. */
const IN_BLOCKS = { GIT_FLUSH: '0' };

export interface CheckIgnoreOptions {
  /** Answers come by the block, and the last ones when `end` was called; else each as soon as it is known. */
  readonly inBlocks: boolean;
  /** Whether a rule hides the path that was asked about next. */
  readonly judged: (isIgnored: boolean, path: string) => void;
  /** No more answers come, and why. */
  readonly failed: (fault: Error) => void;
}

/**
 * `git check-ignore`, which judges one path after another by the rules alone: with the index it would go through the whole of it
 * for every path.
 */
export class CheckIgnore {
  readonly #program: RunningProgram;
  readonly #judged: CheckIgnoreOptions['judged'];
  #rest = '';
  #fields: string[] = [];

  constructor(run: GitRun, { inBlocks, judged, failed }: CheckIgnoreOptions) {
    this.#judged = judged;
    const args = ['--no-pager', 'check-ignore', '--no-index', '-z', '-v', '-n', '--stdin'];
    const env = inBlocks ? { ...run.env, ...IN_BLOCKS } : run.env;
    const decoder = new TextDecoder();
    const program = runProgram({ program: 'git', args, ...run, env }, (chunk) =>
      this.#take(decoder.decode(chunk, { stream: true })),
    );
    program.ended.then(
      (code) => failed(gitFault('check-ignore', code, program.stderr())),
      (fault: unknown) => failed(fault instanceof Error ? fault : new Error('cancelled')),
    );
    this.#program = program;
  }

  /** Asks about `names` in the folder (`''` or `a/b`). Resolves when more may be asked. */
  ask(folder: string, names: readonly string[]): Promise<void> {
    const prefix = pathIn(folder);
    return this.#program.write(names.map((name) => `${prefix}${name}\0`).join(''));
  }

  /** Nothing more is asked. */
  end(): void {
    this.#program.end();
  }

  /** Resolves when it is gone, answered or not. */
  async close(): Promise<void> {
    this.#program.kill();
    // However it ended: nobody asks it any more.
    await Promise.allSettled([this.#program.ended]);
  }

  #take(text: string): void {
    const fields = (this.#rest + text).split('\0');
    this.#rest = fields.pop() ?? '';
    this.#fields.push(...fields);
    let at = 0;
    for (; at + FIELDS <= this.#fields.length; at += FIELDS) {
      const pattern = this.#fields[at + 2] ?? '';
      // Without a rule the pattern is empty; with `!` the rule says that it is not ignored.
      this.#judged(pattern !== '' && !pattern.startsWith('!'), this.#fields[at + FIELDS - 1] ?? '');
    }
    this.#fields = this.#fields.slice(at);
  }
}

/** What names in `folder` are asked with. check-ignore knows no literal names; after `./` a colon is no magic. */
export function pathIn(folder: string): string {
  return folder === '' ? './' : `./${folder}/`;
}

/** An answer about `path`, which nobody asked about. */
export function unasked(path: string): BridgeError {
  return gitFault(
    'check-ignore',
    'unreadable',
    `it answered for ${JSON.stringify(path.slice(0, 100))} unasked`,
  );
}

/** True when git was asked about a path behind a link, of which it judges nothing. In its own words, which are always English. */
export function isBeyondLink(fault: unknown): boolean {
  return fault instanceof BridgeError && fault.message.includes(' is beyond a symbolic link');
}
