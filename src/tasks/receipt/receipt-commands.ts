// Pure: a command line as a list of its commands, as far as a receipt needs it. No rule about what may run relies on this.

/** One command of a line, and what separates it from the next one. */
export interface LinePart {
  /** Without assignments before it, and without programs that only start another one. */
  readonly command: string;
  /** `&&`, `||`, `;`, `|`, `&`; empty behind the last one. */
  readonly then: string;
}

const SEPARATORS = ['&&', '||', '|&', ';', '|', '&', '\n'] as const;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=\S*$/;
/** Programs that start the one behind them, with the options that they may have before it. */
const LAUNCHERS: readonly RegExp[] = [
  /^(?:npx|bunx|pnpx)(?: (?:-y|--yes|--no-install|--bun))* /,
  /^(?:npm|pnpm|yarn|bun) (?:exec|x|dlx)(?: --)? /,
  /^(?:pnpm|yarn|bun) (?=(?:vitest|jest|mocha|playwright|ava)(?: |$))/,
  /^(?:poetry|uv|pipenv|pdm|hatch|rye) run /,
  /^python[\d.]* -m (?=pytest)/,
  /^bundle exec /,
  /^timeout(?: -\S+)* \S+ /,
  /^(?:time|nice|command|sudo|env|exec|xvfb-run(?: -a)?) /,
  /^(?:cross-env|dotenv)(?: --)? /,
];

/** Quotes hold a separator together; what nests deeper is left as it is. */
export function lineParts(line: string): LinePart[] {
  const parts: LinePart[] = [];
  let quote = '';
  let start = 0;
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (quote !== '') {
      if (char === '\\' && quote === '"') at++;
      else if (char === quote) quote = '';
      continue;
    }
    if (char === '\\') {
      at++;
      continue;
    }
    if (char === "'" || char === '"') {
      quote = char;
      continue;
    }
    // `2>&1` and `&>` are redirections.
    const isRedirection = char === '&' && (line.charAt(at - 1) === '>' || line.charAt(at + 1) === '>');
    const separator = isRedirection ? undefined : SEPARATORS.find((one) => line.startsWith(one, at));
    if (separator === undefined) continue;
    add(parts, line.slice(start, at), separator);
    at += separator.length - 1;
    start = at + 1;
  }
  add(parts, line.slice(start), '');
  return parts;
}

function add(parts: LinePart[], text: string, separator: string): void {
  const command = bare(text);
  const then = separator === '\n' ? ';' : separator === '|&' ? '|' : separator;
  if (command !== '') parts.push({ command, then });
}

function bare(text: string): string {
  let words = text
    .trim()
    .replace(/^[({]\s*/, '')
    .replace(/\s+/g, ' ');
  for (;;) {
    const [first = ''] = words.split(' ', 1);
    if (ASSIGNMENT.test(first)) {
      words = words.slice(first.length).trim();
      continue;
    }
    const launcher = LAUNCHERS.find((one) => one.test(words));
    if (launcher === undefined) return words;
    words = words.replace(launcher, '');
  }
}
