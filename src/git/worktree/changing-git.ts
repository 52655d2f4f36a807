import { BridgeError } from '../../base/errors.js';
import type { GitSettings, Setting } from '../run/git-settings.js';
import { NulFields, unreadable } from '../nul-fields.js';
import type { Repository } from '../run/repository.js';
import { repositoryCall } from '../run/repository-git.js';
import type { GitCall, GitRunner } from '../run/run-git.js';

/** Enough to write a working tree of a hundred thousand files. */
const CHANGE_LIMIT_MS = 35_000;
/** More files than one task changes. */
const MAX_FIELDS = 200_000;
/** Author of commits when the user's git settings contain no name. */
const NAME_WITHOUT_SETTINGS = 'claude-code-bridge';

interface ChangingOptions {
  readonly okCodes?: readonly number[];
  readonly input?: Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs git commands that change one repository: as safe as `RepositoryGit`, and no merge driver runs either. */
export interface ChangingGit {
  /** Names of the defined filters; none of them runs. */
  readonly filters: readonly string[];
  output(
    args: readonly string[],
    options?: ChangingOptions,
  ): Promise<{ readonly code: number; readonly text: string }>;
  /** The output without its last line end. Throws for every exit code except 0. */
  text(args: readonly string[], options?: ChangingOptions): Promise<string>;
  /** The NUL-separated fields of the output. */
  fields(args: readonly string[], options?: ChangingOptions): Promise<readonly Buffer[]>;
  stream(args: readonly string[], take: (chunk: Buffer) => void): Promise<void>;
  /** Creates a commit of a tree, with the author from the user's git settings. */
  commit(tree: string, parents: readonly string[], message: string): Promise<string>;
}

/** Throws like `repositoryGit`. */
export async function changingGit(
  runner: GitRunner,
  repository: Repository,
  signal: AbortSignal,
): Promise<ChangingGit> {
  const base = await repositoryCall(runner, repository, signal);
  const settings = withoutMergeDrivers(base.settings);
  const call = (args: readonly string[], options: ChangingOptions = {}): GitCall => ({
    ...base,
    args,
    settings,
    timeLimitMs: CHANGE_LIMIT_MS,
    changes: true,
    environment: { ...base.environment, ...options.environment },
    ...(options.okCodes !== undefined && { okCodes: options.okCodes }),
    ...(options.input !== undefined && { input: options.input }),
  });
  const output: ChangingGit['output'] = async (args, options) => {
    const { code, bytes } = await runner.output(call(args, options));
    return { code, text: bytes.toString('utf8') };
  };
  const text: ChangingGit['text'] = async (args, options) =>
    (await output(args, options)).text.replace(/\n$/, '');
  return {
    filters: settings.filters,
    output,
    text,
    fields: async (args, options) => {
      const found: Buffer[] = [];
      const fields = new NulFields((field) => {
        if (found.length >= MAX_FIELDS) throw unreadable(`more than ${MAX_FIELDS} names`);
        found.push(Buffer.from(field));
      });
      await runner.stream(call(args, options), (chunk) => fields.push(chunk));
      fields.end();
      return found;
    },
    stream: async (args, take) => {
      await runner.stream(call(args), take);
    },
    commit: async (tree, parents, message) =>
      text(['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'], {
        input: Buffer.from(message),
        environment: await nameIfNone(output),
      }),
  };
}

/** Replaces merge drivers with one that fails, which makes a conflict; without a driver git would merge by lines. */
function withoutMergeDrivers(settings: GitSettings): GitSettings {
  const failing = settings.mergeDrivers.map((name): Setting => [`merge.${name}.driver`, 'false']);
  return { ...settings, others: [...settings.others, ...failing] };
}

/** A name for the author and committer if git has none, without which it refuses to commit. */
async function nameIfNone(output: ChangingGit['output']): Promise<Record<string, string>> {
  const { code } = await output(['var', 'GIT_COMMITTER_IDENT'], { okCodes: [0, 1, 128] });
  if (code === 0) return {};
  const email = `${NAME_WITHOUT_SETTINGS}@localhost`;
  return {
    GIT_AUTHOR_NAME: NAME_WITHOUT_SETTINGS,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: NAME_WITHOUT_SETTINGS,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** The error when work cannot be brought into the project; nothing was changed. */
export function doesNotFit(message: string, hint: string): BridgeError {
  return new BridgeError('WORK_DOES_NOT_FIT', message, hint);
}
