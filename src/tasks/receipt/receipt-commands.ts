// Pure: a command line as a list of its commands, as far as a receipt needs it. No rule about what may run relies on this.

/** One command of a line, and what separates it from the next one. */
export interface LinePart {
  /** Without assignments before it, and without programs that only start another one. */
  readonly command: string;
  /** `&&`, `||`, `;`, `|`, `&`; empty behind the last one. */
  readonly then: string;
  /** It took the shell's place (`exec`): what comes behind it did not run. */
  readonly isExec: boolean;
}

const SEPARATORS = ['&&', '||', '|&', ';', '|', '&', '\n'] as const;
/** The longest beginning of a here-document that is looked for. */
const MAX_HERE_CHARS = 200;
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

/** Text that a here-document's command runs, and does not only read. */
const RUNS_ITS_INPUT = /(?:^|[\s/])(?:ba|z|da|k)?sh(?: -\S+)*\s*$/;
const HERE_DOCUMENT = /^<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([\w.-]+))/;

/** Quotes hold a separator together; what nests deeper is left as it is. Comments and here-documents are no commands. */
export function lineParts(line: string): LinePart[] {
  const parts: LinePart[] = [];
  /** The last lines of here-documents that begin at the next line. */
  const ends: { readonly word: string; readonly isIndented: boolean }[] = [];
  let quote = '';
  let text = '';
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '\\' && quote !== "'") {
      text += line.slice(at, at + 2);
      at++;
      continue;
    }
    if (quote !== '') {
      if (char === quote) quote = '';
      text += char;
      continue;
    }
    if (char === "'" || char === '"') {
      quote = char;
      text += char;
      continue;
    }
    if (char === '#' && /(?:^|[\s(])$/.test(text)) {
      at = endOfLine(line, at) - 1;
      continue;
    }
    const here = line.startsWith('<<<', at) ? null : HERE_DOCUMENT.exec(line.slice(at, at + MAX_HERE_CHARS));
    if (here !== null && !text.endsWith('<') && !RUNS_ITS_INPUT.test(text)) {
      const [whole, dash = '', ...words] = here;
      ends.push({ word: words.find((word) => word !== undefined) ?? '', isIndented: dash !== '' });
      text += whole;
      at += whole.length - 1;
      continue;
    }
    // `2>&1` and `&>` are redirections.
    const isRedirection = char === '&' && (line.charAt(at - 1) === '>' || line.charAt(at + 1) === '>');
    const separator = isRedirection ? undefined : SEPARATORS.find((one) => line.startsWith(one, at));
    if (separator === undefined) {
      text += char;
      continue;
    }
    add(parts, text, separator);
    text = '';
    at += separator.length - 1;
    if (separator !== '\n') continue;
    for (const end of ends.splice(0)) at = endOfHereDocument(line, at + 1, end) - 1;
  }
  add(parts, text, '');
  return parts;
}

/** Where the line that `at` lies in ends: its newline, or the end of the text. */
function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** Where the text after its last line begins; the end of the text if there is none. */
function endOfHereDocument(
  text: string,
  start: number,
  { word, isIndented }: { readonly word: string; readonly isIndented: boolean },
): number {
  for (let at = start; at < text.length;) {
    const end = endOfLine(text, at);
    const line = text.slice(at, end);
    at = end + 1;
    if ((isIndented ? line.replace(/^\t+/, '') : line) === word) return Math.min(at, text.length);
  }
  return text.length;
}

function add(parts: LinePart[], text: string, separator: string): void {
  const command = bare(text);
  const then = separator === '\n' ? ';' : separator === '|&' ? '|' : separator;
  // Without a program, `exec` only redirects.
  const isExec = /^\s*exec\s+(?![\d&]*[<>])/.test(text);
  if (command !== '') parts.push({ command, then, isExec });
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
