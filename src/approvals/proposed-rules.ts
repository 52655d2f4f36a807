// Pure: the narrowest rules that make sense to allow the like of a request from now on.
import { dirname, relative, resolve } from 'node:path';
import { shown } from './covering-rule.js';
import { readPlainLine, type PlainCommand } from './shell/plain-line.js';

export interface RequestToAllow {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly projectPath: string;
}

/** Rules that allow; or why there are none. */
export type ProposedRules = { readonly rules: readonly string[] } | { readonly why: string };

/** Programs whose first word says what they do. */
const WITH_SUBCOMMAND: ReadonlySet<string> = new Set(
  'apt brew bun bundle cargo composer docker dotnet gh git go helm kubectl mvn npm npx pip pip3 pnpm podman poetry rustup swift terraform uv yarn'.split(
    ' ',
  ),
);
/** Subcommands whose own first word says what they do. */
const WITH_SECOND: ReadonlySet<string> = new Set(['run', 'compose', 'exec', 'stash', 'remote', 'submodule']);
const SUBCOMMAND = /^[a-z][a-z0-9:_-]*$/;
const EDITS: ReadonlySet<string> = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);
const READS: ReadonlySet<string> = new Set(['Read', 'NotebookRead', 'Grep', 'Glob', 'LS']);
/** They name a folder. */
const FOLDER_TOOLS: ReadonlySet<string> = new Set(['Grep', 'Glob', 'LS']);
const NOT_IN_PATTERNS = /[*?[\]{}\\]/;

/** One rule for each command of a line; for a file its folder; for a page its host; else the tool. */
export function proposedRules(request: RequestToAllow): ProposedRules {
  const { tool, input } = request;
  if (tool === 'Bash') return commandRules(input['command']);
  if (EDITS.has(tool)) return pathRules('Edit', request);
  if (READS.has(tool)) return pathRules('Read', request);
  if (tool === 'WebFetch') return hostRules(input['url']);
  return { rules: [tool] };
}

function commandRules(line: unknown): ProposedRules {
  if (typeof line !== 'string') return { why: 'it contains no command' };
  const plain = readPlainLine(line);
  if ('commands' in plain) return { rules: [...new Set(plain.commands.map(commandRule))] };
  return { rules: [`Bash(${escaped(line)})`] };
}

function commandRule({ words }: PlainCommand): string {
  const glob = words.findIndex(({ isGlob }) => isGlob);
  const lead = glob === -1 ? leadOf(words.map(({ value }) => value)) : glob;
  const text = escaped(words.slice(0, lead).map(shown).join(' '));
  return lead === words.length ? `Bash(${text})` : `Bash(${text} *)`;
}

/** How many words the rule names: all of them, where none says what the program does. */
function leadOf([program = '', ...rest]: readonly string[]): number {
  const [first = '', second = ''] = rest;
  if (!WITH_SUBCOMMAND.has(program) || !SUBCOMMAND.test(first)) return rest.length + 1;
  return WITH_SECOND.has(first) && SUBCOMMAND.test(second) ? 3 : 2;
}

function escaped(text: string): string {
  return text.replace(/[\\*]/g, '\\$&');
}

function pathRules(access: 'Edit' | 'Read', { tool, input, projectPath }: RequestToAllow): ProposedRules {
  const named = [input['file_path'], input['notebook_path'], input['path']].find(
    (value) => typeof value === 'string',
  );
  if (typeof named !== 'string') return { why: 'it names no file' };
  const path = resolve(projectPath, named);
  if (NOT_IN_PATTERNS.test(path)) return { why: 'the path has characters that are wildcards in a rule' };
  const below = relative(projectPath, path);
  if (below === '') return { why: 'it is about the whole project' };
  if (below.startsWith('..')) return { rules: [`${access}(/${path})`] };
  const folder = FOLDER_TOOLS.has(tool) ? below : dirname(below);
  return { rules: [folder === '.' ? `${access}(/${below})` : `${access}(/${folder}/**)`] };
}

function hostRules(url: unknown): ProposedRules {
  if (typeof url !== 'string' || !URL.canParse(url)) return { why: 'it names no address' };
  return { rules: [`WebFetch(domain:${new URL(url).hostname})`] };
}
