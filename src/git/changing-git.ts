import { BridgeError } from '../base/errors.js';
import type { Drivers } from './drivers.js';
import { driverOverrides, type Override } from './git-environment.js';
import { NulFields, unreadable } from './nul-fields.js';
import type { Repository } from './repository.js';
import { repositoryCall } from './repository-git.js';
import type { GitCall, GitRunner } from './run-git.js';

/** A working tree of a hundred thousand files is written in this time. */
const CHANGE_LIMIT_MS = 35_000;
/** More files than one task changes. */
const MAX_FIELDS = 200_000;
/** Whose commits these are where the user has told git no name. */
const NAME_WITHOUT_SETTINGS = 'claude-code-bridge';

/** Settings that would make what is written another than what was asked for. */
const overrides: readonly Override[] = [
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['merge.autoStash', 'false'],
  ['merge.verifySignatures', 'false'],
  ['merge.renormalize', 'false'],
  ['apply.whitespace', 'nowarn'],
  ['apply.ignoreWhitespace', 'no'],
  ['branch.autoSetupMerge', 'false'],
  ['checkout.workers', '1'],
];

export interface ChangingOptions {
  readonly answers?: readonly number[];
  readonly input?: Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
}

/** git in one repository, for what changes it: as safe as for looking, and no merge driver runs either. */
export interface ChangingGit {
  /** Names of the drivers of filters that are defined; none of them runs. */
  readonly filters: readonly string[];
  output(
    args: readonly string[],
    options?: ChangingOptions,
  ): Promise<{ readonly code: number; readonly text: string }>;
  /** The output without its last line end. Throws for every exit code but 0. */
  text(args: readonly string[], options?: ChangingOptions): Promise<string>;
  /** The fields of an output that is cut by NUL bytes. */
  fields(args: readonly string[], options?: ChangingOptions): Promise<readonly Buffer[]>;
  stream(args: readonly string[], take: (chunk: Buffer) => void): Promise<void>;
  /** The commit of a tree, by the user as git knows them. */
  commit(tree: string, parents: readonly string[], message: string): Promise<string>;
}

/** Throws as `repositoryGit`. */
export async function changingGit(
  parts: { readonly runner: GitRunner; readonly drivers: Drivers },
  repository: Repository,
  signal: AbortSignal,
): Promise<ChangingGit> {
  const { runner } = parts;
  const base = await repositoryCall(runner, repository, signal);
  const drivers = await parts.drivers.merging(base);
  const call = (args: readonly string[], options: ChangingOptions = {}): GitCall => ({
    ...base,
    args,
    overrides: [...overrides, ...driverOverrides(drivers)],
    timeLimitMs: CHANGE_LIMIT_MS,
    environment: { ...base.environment, ...options.environment },
    ...(options.answers !== undefined && { answers: options.answers }),
    ...(options.input !== undefined && { input: options.input }),
  });
  const output: ChangingGit['output'] = async (args, options) => {
    const { code, bytes } = await runner.output(call(args, options));
    return { code, text: bytes.toString('utf8') };
  };
  const text: ChangingGit['text'] = async (args, options) =>
    (await output(args, options)).text.replace(/\n$/, '');
  return {
    filters: drivers.filter((name) => name.startsWith('filter.')),
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

/** git refuses to make a commit of nobody. */
async function nameIfNone(output: ChangingGit['output']): Promise<Record<string, string>> {
  const { code } = await output(['var', 'GIT_COMMITTER_IDENT'], { answers: [0, 1, 128] });
  if (code === 0) return {};
  const email = `${NAME_WITHOUT_SETTINGS}@localhost`;
  return {
    GIT_AUTHOR_NAME: NAME_WITHOUT_SETTINGS,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: NAME_WITHOUT_SETTINGS,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** The work and the project do not fit; nothing was changed. */
export function doesNotFit(message: string, hint: string): BridgeError {
  return new BridgeError('WORK_DOES_NOT_FIT', message, hint);
}
