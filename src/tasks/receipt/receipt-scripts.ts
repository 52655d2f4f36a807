// Pure: which commands run tests by the name of a script or of a target alone.
import { basename, dirname } from 'node:path';

/** Folders whose `run`, `main`, `all` and `index` run tests. */
const TEST_FOLDERS: ReadonlySet<string> = new Set(['test', 'tests', '__tests__', 'spec']);
const FOLDER_MAINS: ReadonlySet<string> = new Set(['run', 'runner', 'main', 'all', 'index']);
const TEST_WORD = /^(?:unit|integration|e2e|self)?tests?$/;
/** With one of these at its end, a script only prepares or checks the tests. */
const NO_RUN_WORDS: ReadonlySet<string> = new Set(
  'data fixture fixtures helper helpers util utils setup teardown build compile lint format types typecheck clean install deps'.split(
    ' ',
  ),
);

const NONE: ReadonlySet<string> = new Set();

interface TargetProgram {
  readonly names: ReadonlySet<string>;
  /** Options that take the next word. */
  readonly withValue: RegExp;
  /** Words that may stand before the target. */
  readonly runs?: ReadonlySet<string>;
  /** True when what comes behind the first target belongs to it. */
  readonly takesOne?: true;
  /** Targets that test, whatever they are called. */
  readonly plain?: ReadonlySet<string>;
  /** True when the name of a script needs one of `runs` before it. */
  readonly needsRun?: true;
  /** Options with which nothing is run. */
  readonly isDry?: RegExp;
}

const programs: readonly TargetProgram[] = [
  {
    names: new Set(['npm']),
    withValue: /^(?:--prefix|-C|-w|--workspace)$/,
    runs: new Set(['run', 'run-script']),
    plain: new Set(['t', 'tst', 'test']),
    takesOne: true,
    needsRun: true,
  },
  {
    names: new Set(['yarn', 'pnpm']),
    withValue: /^(?:-C|--dir|--cwd|-F|--filter|workspace)$/,
    runs: new Set(['run', 'workspace']),
    plain: new Set(['t']),
    takesOne: true,
  },
  {
    names: new Set(['bun', 'deno']),
    withValue: /^(?:--cwd|-F|--filter)$/,
    runs: new Set(['run', 'task']),
    takesOne: true,
    needsRun: true,
  },
  {
    names: new Set(['make', 'gmake']),
    withValue: /^(?:-[CfjoWI]|--directory|--file)$/,
    plain: new Set(['check', 'verify']),
    // Options of one letter stand together: `-kn`.
    isDry: /^(?:-[bBdeEhikLmnpqrRsStvw]*[nqtv][A-Za-z]*|--(?:dry-run|just-print|recon|question|touch))$/,
  },
  {
    names: new Set(['just', 'task', 'rake', 'gradle', 'mvn', 'ninja', 'ant']),
    withValue: /^(?:-[fxjpd]|--exclude-task|--directory|--file|--justfile|--taskfile|-pl|--projects)$/,
    plain: new Set(['check', 'verify']),
    isDry: /^(?:-n|-m|--dry-run|--just-print|-DskipTests(?:=true)?|-Dmaven\.test\.skip(?:=true)?)$/,
  },
  {
    names: new Set(
      'nx turbo lerna bazel bazelisk flutter dart sbt lein stack cabal meson zig composer rails forge hardhat'.split(
        ' ',
      ),
    ),
    withValue: /^(?:-[pt]|--project|--targets?)$/,
    runs: new Set(['run', 'build', 'run-script']),
    takesOne: true,
  },
];

/** The option of gradle behind which a target is left out. */
const EXCLUDES = /^(?:-x|--exclude-task)$/;

interface Interpreter {
  readonly name: RegExp;
  /** Words between the interpreter and its script. */
  readonly between?: string;
  /** Options with which it runs no script. */
  readonly noScript: RegExp;
  /** Options that take the next word. */
  readonly withValue: RegExp;
}

const interpreters: readonly Interpreter[] = [
  {
    name: /^(?:node|tsx|ts-node|bun)$/,
    noScript: /^(?:-[cep]+|-pe|--check|--eval|--print)$/,
    withValue: /^(?:-r|--require|--import|--(?:experimental-)?loader|--tsconfig|--env-file|--conditions|-C)$/,
  },
  { name: /^deno$/, between: 'run', noScript: /^$/, withValue: /^(?:-c|--config|--import-map)$/ },
  { name: /^(?:python[\d.]*|pypy\d?)$/, noScript: /^-[cm]/, withValue: /^-[WX]$/ },
  { name: /^(?:ba|z|da|k)?sh$/, noScript: /^-[a-z]*[cn]/, withValue: /^[-+][a-z]*o$/ },
  { name: /^(?:ruby|perl|php|lua|Rscript)$/, noScript: /^-[a-z]*[ceElr]$/, withValue: /^-[IM]$/ },
];

/** The script whose name says that it tests, as a command runs it: `node test.js`, `./run-tests.sh`. Undefined when there is none. */
export function testScriptOf(command: string): string | undefined {
  const words = command.split(' ');
  const [program = ''] = words;
  const interpreter = interpreters.find(({ name }) => name.test(basename(program)));
  const script = interpreter === undefined ? ownScript(program) : scriptIn(words.slice(1), interpreter);
  return script !== undefined && namesTests(script) ? script : undefined;
}

/** The program whose script or target says that it tests: `npm run e2e-tests`, `make test-unit`. Undefined when there is none. */
export function testTargetOf(command: string): string | undefined {
  const [path = '', ...words] = command.split(' ');
  const name = basename(path).replace(/^(gradle|mvn)w$/, '$1');
  const program = programs.find((one) => one.names.has(name));
  if (program === undefined) return undefined;
  const { withValue, runs = NONE, takesOne = false, plain = NONE, isDry } = program;
  if (isDry !== undefined && words.some((word) => isDry.test(word))) return undefined;
  const left = words.filter((_word, at) => EXCLUDES.test(words[at - 1] ?? '')).map(bareTarget);
  const targets = words.filter(
    (word, at) => !isOption(word) && !withValue.test(words[at - 1] ?? '') && !left.includes(bareTarget(word)),
  );
  const isRun = runs.has(targets[0] ?? '');
  const named = isRun ? targets.slice(1) : targets;
  const isTest = (target: string): boolean =>
    (plain.has(target) && !left.some((one) => saysTest(wordsIn(one)))) ||
    ((isRun || !program.needsRun) && saysTest(wordsIn(target)));
  return (takesOne ? named.slice(0, 1) : named).some(isTest) ? name : undefined;
}

function bareTarget(name: string): string {
  return name.replace(/^:/, '');
}

/** A path: what is on PATH (`test`) is another program. */
function ownScript(program: string): string | undefined {
  return program.includes('/') ? program : undefined;
}

function scriptIn(words: readonly string[], interpreter: Interpreter): string | undefined {
  const { between, noScript, withValue } = interpreter;
  const own = between === undefined ? words : words[0] === between ? words.slice(1) : [];
  for (let at = 0; at < own.length; at++) {
    const word = own[at] ?? '';
    if (noScript.test(word)) return undefined;
    if (withValue.test(word)) at++;
    else if (!isOption(word)) return word.replace(/^(["'])(.*)\1$/, '$2');
  }
  return undefined;
}

function namesTests(path: string): boolean {
  const [name = '', ...extensions] = basename(path).split('.');
  if (FOLDER_MAINS.has(name)) return TEST_FOLDERS.has(basename(dirname(path)));
  // `average.test.js`, `average.spec.ts`
  if (extensions.length > 1 && extensions.some((part) => TEST_FOLDERS.has(part))) return true;
  // By this name a module of tests is found in Python, whatever comes behind.
  if (/^test_\w+$/.test(name) && extensions.at(-1) === 'py') return true;
  return saysTest(wordsIn(name));
}

/** Without the first colon, `:app:test` and `app:test` are the same. */
function wordsIn(name: string): string[] {
  return name
    .replace(/^:/, '')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[:._/-]/);
}

function isOption(word: string): boolean {
  return /^[-+<>]|=|^\d?>/.test(word);
}

/** The first or the last word says test, and the last one does not say that something else is done. */
function saysTest(words: readonly string[]): boolean {
  const last = words.at(-1) ?? '';
  return !NO_RUN_WORDS.has(last) && (TEST_WORD.test(words[0] ?? '') || TEST_WORD.test(last));
}
