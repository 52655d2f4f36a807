import { gitFlags, type GitRun } from './git-listing.js';
import { BridgeError } from '../base/errors.js';
import { runInTurn } from './search-program.js';
import { ripgrepExpression } from './search-query.js';

/** Names of files with a match; what is longer is searched without help. */
const MAX_BYTES = 50_000_000;

export type SearchEngine = 'rg' | 'git' | 'own';

export interface EngineQuery {
  readonly query: string;
  readonly isRegex: boolean;
  readonly isRepository: boolean;
  readonly run: GitRun;
}

/**
 * Paths of files that may hold a match, relative to the folder: never too few, but for ignored files that are tracked; also
 * ones that git ignores. Undefined when the engine is not there or cannot tell, `stuck` when it waits for what never comes.
 */
export async function filesByEngine(
  engine: SearchEngine,
  query: EngineQuery,
): Promise<ReadonlySet<string> | 'stuck' | undefined> {
  const args =
    engine === 'rg' ? ripgrepArguments(query) : engine === 'git' ? grepArguments(query) : undefined;
  if (args === undefined || engine === 'own') return undefined;
  const found = new Set<string>();
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  const program = await runInTurn({ program: engine, args, ...query.run }, (chunk) => {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return;
    const names = (rest + decoder.decode(chunk, { stream: true })).split('\0');
    rest = names.pop() ?? '';
    for (const name of names) found.add(name.startsWith('./') ? name.slice(2) : name);
  });
  program.end();
  const code = await program.ended.catch((thrown: unknown) => {
    if (thrown instanceof BridgeError && !query.run.signal.aborted) return 'stuck';
    throw thrown;
  });
  if (code === 'stuck') return code;
  if (code === 'missing' || bytes > MAX_BYTES) return undefined;
  // 1 is "nothing found"; with 2 ripgrep names what it could find beside what it could not read.
  const isAnswer = code === 0 || code === 1 || (engine === 'rg' && code === 2 && found.size > 0);
  return isAnswer ? found : undefined;
}

/** No settings of the user, no ignore files of its own, no links; binary files are told apart later. */
function ripgrepArguments({ query, isRegex, isRepository }: EngineQuery): string[] | undefined {
  const expression = isRegex ? ripgrepExpression(query) : query;
  if (expression === undefined) return undefined;
  return [
    '--no-config',
    '--no-messages',
    '--no-follow',
    '--no-ignore-dot',
    '--no-ignore-global',
    '--color=never',
    '--crlf',
    '--hidden',
    '--glob=!.git',
    ...(isRepository ? [] : ['--no-require-git', '--no-ignore-parent']),
    '--files-with-matches',
    '--null',
    ...(isRegex ? [] : ['--fixed-strings']),
    `--regexp=${expression}`,
    './',
  ];
}

/** Only for fixed texts: its expressions are others. */
function grepArguments({ query, isRegex, isRepository }: EngineQuery): string[] | undefined {
  if (isRegex || !isRepository) return undefined;
  const options = [
    '--files-with-matches',
    '-z',
    '-F',
    '--untracked',
    '--exclude-standard',
    '--no-textconv',
    '--no-color',
  ];
  return [...gitFlags, 'grep', ...options, '-e', query, '--', '.'];
}
