// Shell lines made at random: mostly what an agent writes, in part what an attacker would.

/** Numbers from 0 to below 1. */
type Random = () => number;

const programs = [
  'npm',
  'git',
  'cat',
  'ls',
  'grep',
  'rg',
  'find',
  'make',
  'pytest',
  'cargo',
  'sed',
  'cp',
  'python3',
  'tsc',
];
const starts = [
  ...[
    'npm test',
    'npm run',
    'npm run build',
    'git status',
    'git diff',
    'git log',
    'git commit -m',
    'cat',
    'ls',
    'grep',
  ],
  ...[
    'rg',
    'find .',
    'make',
    'make build',
    'pytest',
    'cargo test',
    'sed -n',
    'python3 -m pytest',
    'cp src/a',
    'echo',
  ],
];
const plainWords = [
  ...[
    '-n',
    '-la',
    '--watch',
    '--stat',
    '--oneline',
    '-5',
    'src',
    'src/a.ts',
    '.',
    './src',
    '../x',
    'HEAD',
    'HEAD~1',
    'HEAD^',
  ],
  ...['main..work', 'a=b', '--format=%h', '+x', '@x', 'a,b', 'a:b', '1', 'é'],
  ...[
    "'a b'",
    '"a b"',
    "'$(touch x)'",
    "'`touch x`'",
    "'a;touch x'",
    "'*'",
    '"*"',
    "''",
    '""',
    `"it's"`,
    `'say "x"'`,
  ],
  ...["'fix: a\nb'", "a'b'c", `a"b"'c'`, "'\\'", "'a\\nb'", "'-x'", '"--pre=sh"', "'a[$(touch x)]'", "'é ü'"],
];
/** Names of files that the shell may put in their place are an attacker's words; so are these. */
const hostileWords = [
  ...[
    '*',
    '?',
    '?va*',
    'a*',
    'src/*',
    './*',
    'src/?',
    'a?',
    '**',
    'src/**',
    '-*',
    '--*',
    '--pre=*',
    '?-pre=sh',
    '*.ts',
    '.*',
    'b*',
    'H*',
  ],
  ...[
    '[]-]*',
    '[[:punct:]]exec',
    'a[b]',
    'a[',
    '[a]*',
    'x]',
    '[!a]*',
    '[^a]*',
    'src/[a-z]*',
    '.[[:alpha:]]nv',
  ],
  ...[
    '{a,b}',
    'a{1..3}',
    'src/{a,-exec}',
    '~',
    '~/x',
    '~root',
    'a~b',
    'a:~',
    'x=~',
    '--x=~/y',
    'a^b',
    '^a',
    'a#',
    'a~*',
    'a^*',
  ],
  ...[
    '=ls',
    '=(touch x)',
    'x==ls',
    'a:=ls',
    '<=(touch x)',
    '$x',
    '"$x"',
    '${x}',
    '${x@P}',
    '${(e)x}',
    '$((x))',
    '$(touch x)',
  ],
  ...[
    '`touch x`',
    '"$(touch x)"',
    '"`touch x`"',
    "$'a'",
    '$"a"',
    '$+path',
    "$+path['$(touch x)']",
    '$[1]',
    'a\\b',
    '\\',
    '\\*',
    '"\\$x"',
  ],
  ...[
    "*(e:'touch x':)",
    'a(N)',
    '@(a|b)',
    '+(a)',
    '!(a)',
    'a*(N)',
    '!!',
    '"!x"',
    '!x',
    '#x',
    'a#b',
    '%1',
    '%n',
  ],
  ...[
    "'a[$(touch x)]'",
    "'path[$(touch x)]'",
    'a[$(touch x)]',
    '-v',
    '-exec',
    'sh',
    "'%n'",
    'PATH',
    'HOME',
    '>x',
    '2>&1',
    '<p',
    '&',
    '>&2',
  ],
  ...[
    '<<E',
    '<<<x',
    '>|x',
    '|&',
    '()',
    '(',
    ')',
    '{',
    '}',
    '\u00a0',
    '\r',
    '\u200b',
    "'\u202e'",
    "'a''b'",
    'do',
    'then',
    '|',
    ';;',
  ],
];
const evaluated = [
  'export',
  'printf',
  'printf %d',
  'test -v',
  'test',
  'eval',
  '[',
  'exec',
  'command',
  'env',
  'xargs',
  'noglob',
  'time',
  'node version',
  'make version',
  'cat p | python3 -v',
];
const joins = [' && ', ' || ', '; ', ' | ', '\n', ';', '|', '&&', ' \n '];
const characters = [...' \t\n;&|<>()$`\\"\'*?[]#~=%!{}^+@:,-/0aZ_.é'];

/** Frames with a hole `_` for a line and `@` for a word. */
const frames = [
  ...[
    'for x in @; do _; done',
    "for x in 'a[$(touch x)]'; do case $((x)) in *) _;; esac; done",
    'for HOME in $PWD/1; do _; done',
  ],
  ...[
    "for x in '$(touch x)'; do case ${x@P} in *) _;; esac; done",
    "for f in *(e:'touch x':); do _; done",
    'for PATH in bin; do _; done',
  ],
  ...[
    'if _; then _; fi',
    'while _; do break; done',
    'case @ in *) _;; esac',
    '( _ )',
    '{ _; }',
    '! _',
    'time _',
    'x=@ _',
    'PATH=bin _',
  ],
  ...[
    'PATH=bin; _',
    'PATH+=@ _',
    'a[1]=@ _',
    '_ &',
    '_ & _',
    '_ > @',
    '_ >> x',
    '_ 2>&1',
    '_ < @',
    '> x',
    'f() { _; }; f',
    'repeat 2 _',
  ],
  ...[
    'coproc _',
    'noglob _',
    'nocorrect _',
    '- _',
    'command _',
    'exec _',
    "eval '_'",
    "sh -c '_'",
    '[[ @ ]] && _',
    '(( @ )); _',
  ],
  ...[
    'cat <<E\n_\nE',
    '_ <<< @',
    'printf %d @; _',
    "printf 'a%n' HOME; _",
    'printf -v PATH bin; _',
    'test -v @; _',
    'export PATH=bin; _',
  ],
  ...[
    'alias npm=touch; _',
    "trap 'touch x' EXIT; _",
    'cd 1; _',
    'set -- @; _',
    '_ # @',
    '_;',
    ';_',
    '_ &&',
    '_\n\n_',
    'function _',
    '_; }',
  ],
  ...[
    'select x in @; do _; done',
    'foreach x (@) _; end',
    '_ |& _',
    '@ _',
    '@; _',
    'unset PATH; _',
    'source p; _',
    '. ./p; _',
    '=touch x; _',
  ],
];

/** A line. Most are plain or nearly so, which an allow rule may cover. */
export function randomLine(random: Random): string {
  const line = joined(random);
  const framed =
    random() < 0.25
      ? pick(frames, random).replaceAll(/[_@]/g, (hole) => (hole === '_' ? joined(random) : anyWord(random)))
      : line;
  return random() < 0.3 ? mutated(framed, random) : framed;
}

function joined(random: Random): string {
  let line = command(random);
  while (random() < 0.3) line += `${pick(joins, random)}${command(random)}`;
  return line;
}

function command(random: Random): string {
  const dice = random();
  const start =
    dice < 0.9 ? pick(starts, random) : dice < 0.95 ? pick(evaluated, random) : pick(programs, random);
  const words = [start];
  while (random() < 0.6) words.push(random() < 0.8 ? pick(plainWords, random) : anyWord(random));
  return words.join(random() < 0.05 ? '  \t' : ' ');
}

function anyWord(random: Random): string {
  const word = pick(random() < 0.2 ? plainWords : hostileWords, random);
  return random() < 0.1 ? word + pick(hostileWords, random) : word;
}

/** One to three characters put in, left out or doubled. */
function mutated(line: string, random: Random): string {
  let result = line;
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
    const at = Math.floor(random() * (result.length + 1));
    const put = random() < 0.7 ? pick(characters, random) : '';
    result = result.slice(0, at) + put + result.slice(at + (random() < 0.3 ? 1 : 0));
  }
  return result;
}

function pick<T>(from: readonly [T, ...T[]] | readonly T[], random: Random): T {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error('nothing to choose from');
  return found;
}
