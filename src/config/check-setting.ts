import { z } from 'zod';
import { messageOf } from '../base/errors.js';
import { nearestName } from '../base/input.js';
import { oneLine } from '../base/text.js';
import { expandCommand } from './command-words.js';
import { expandHome } from './places.js';
import { expectedAt } from './expected.js';
import { configSchema, factsOf, type ConfigKey } from './schema.js';

/** Enough to recognise a value by. */
const SHOWN_CHARS = 100;
/** Texts in which a pattern that can match nothing at all (an anchor, a word border, a star) finds an empty match. */
const PROBES = ['', 'a', ' a b\n'];

const commandSchema = z.union([z.string(), z.array(z.string())]);

/** A value of a setting as it was written. */
export interface FoundSetting {
  readonly key: ConfigKey;
  readonly value: unknown;
  /** Where it was found, in the words of an error: file and line, variable or flag. */
  readonly origin: string;
}

/**
 * Every error of the value, a line each; none means that it can be used. `~` is understood, links are not followed. `toolsets` are
 * the names of all toolsets; left out, any name is taken.
 */
export async function settingErrors(
  found: FoundSetting,
  homeDir: string,
  toolsets?: readonly string[],
): Promise<readonly string[]> {
  const { key, origin } = found;
  const parsed = configSchema.shape[key].safeParse(withHome(key, found.value, homeDir));
  // Several bounds that one value breaks are one error, said in the same words.
  if (!parsed.success) return [...new Set(parsed.error.issues.map((issue) => issueLine(found, issue)))];
  if (key === 'toolsets' && toolsets !== undefined) return toolsetErrors(found, toolsets);
  if (key !== 'auto_approve_patterns') return [];
  const patterns = configSchema.shape.auto_approve_patterns.parse(found.value);
  const errors = await patternErrors(patterns);
  return errors.flatMap((expected, index) =>
    expected === undefined ? [] : [errorLine(origin, `${key}[${index}]`, patterns[index], expected)],
  );
}

/**
 * For each pattern what it should have been, or undefined for a usable one: RE2 must compile it (its matching takes linear
 * time), and it must not match the empty string, which is on every screen.
 */
async function patternErrors(patterns: readonly string[]): Promise<readonly (string | undefined)[]> {
  if (patterns.length === 0) return [];
  // 15 ms that a server with the default patterns does not pay at its start.
  const { RE2JS, RE2JSException } = await import('re2js');
  return patterns.map((pattern) => {
    try {
      const compiled = RE2JS.compile(pattern);
      for (const probe of PROBES) {
        const matcher = compiled.matcher(probe);
        while (matcher.find())
          if (matcher.start() === matcher.end())
            return 'a regular expression that does not match the empty string';
      }
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof RE2JSException)) throw thrown;
      return `a regular expression in RE2 syntax (${messageOf(thrown)})`;
    }
  });
}

function toolsetErrors({ value, origin }: FoundSetting, known: readonly string[]): string[] {
  const chosen = configSchema.shape.toolsets.parse(value);
  if (chosen === 'all') return [];
  return chosen.flatMap((name, index) => {
    if (known.includes(name)) return [];
    const near = nearestName(name, known);
    const error = errorLine(origin, `toolsets[${index}]`, name, `one of ${known.join(', ')}`);
    return [near === undefined ? error : `${error}; did you mean "${near}"?`];
  });
}

/** The value with `~` expanded in its paths and its command: `~/` at the beginning of a text stands for nothing but the home folder. */
export function withHome(key: ConfigKey, value: unknown, homeDir: string): unknown {
  if (key === 'auto_approve_patterns') return value;
  if (key !== 'claude_command') return withTexts(value, (text) => expandHome(text, homeDir), true);
  const command = commandSchema.safeParse(value);
  return command.success ? expandCommand(command.data, homeDir) : value;
}

/** One error in the words that all of them use, without values that may be secret. */
export function errorLine(origin: string, name: string, value: unknown, expected: string): string {
  return `${origin}: ${name}: found ${shown(withoutValues(name, value))}, expected ${expected}`;
}

function issueLine({ key, value, origin }: FoundSetting, issue: z.core.$ZodIssue): string {
  const { path } = issue;
  const said = (expected: string): string => {
    const found = path.reduce<unknown>(
      (whole, step) => (isObject(whole) ? Reflect.get(whole, step) : undefined),
      value,
    );
    return errorLine(origin, nameOf(key, path), found, expected);
  };
  if (issue.code === 'custom') return said(issue.message);
  if (issue.code === 'invalid_key') {
    const name = `a key of ${nameOf(key, path.slice(0, -1))}`;
    return errorLine(origin, name, path.at(-1), issue.issues[0]?.message ?? issue.message);
  }
  if (path.length === 0) return said(factsOf(key).expected);
  const unknown =
    issue.code === 'unrecognized_keys' ? `; unknown: ${oneLine(issue.keys.join(', '), SHOWN_CHARS)}` : '';
  return said(`${expectedAt(configSchema.shape[key], path) ?? issue.message}${unknown}`);
}

function nameOf(key: string, path: readonly PropertyKey[]): string {
  const steps = path.map((step) =>
    typeof step === 'string' ? `.${oneLine(step, SHOWN_CHARS)}` : `[${String(step)}]`,
  );
  return `${key}${steps.join('')}`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : oneLine(JSON.stringify(value), SHOWN_CHARS);
}

/** Without what may be a secret, since a client shows errors to its model: the value in `NAME=value`, and the address of a webhook. */
function withoutValues(name: string, value: unknown): unknown {
  if (/^notify(?!\.on\b)/.test(name)) return withTexts(value, () => '…');
  if (!name.startsWith('pass_environment')) return value;
  return withTexts(value, (text) => text.replace(/=[^]*$/, '=…'));
}

/** The value with each text in it changed; `keys`: the names in objects, too. */
function withTexts(value: unknown, change: (text: string) => string, keys = false): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((part: unknown) => withTexts(part, change, keys));
  if (!isObject(value)) return value;
  const parts: [string, unknown][] = Object.entries(value);
  return Object.fromEntries(
    parts.map(([name, part]) => [keys ? change(name) : name, withTexts(part, change, keys)]),
  );
}
