import type { z } from 'zod';
import { messageOf } from '../base/errors.js';
import { nearestName } from '../base/input.js';
import { oneLine } from '../base/text.js';
import { expandCommand } from './command-words.js';
import { expandHome } from './places.js';
import { configSchema, factsOf, type ConfigKey } from './schema.js';

/** Enough to recognise a value by. */
const SHOWN_CHARS = 100;
/** Texts in which a pattern that can match nothing at all (an anchor, a word border, a star) finds an empty match. */
const PROBES = ['', 'a', ' a b\n'];

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

/** The value with `~` expanded in its paths and its command. */
export function withHome(key: ConfigKey, value: unknown, homeDir: string): unknown {
  if (key === 'claude_command') return isCommand(value) ? expandCommand(value, homeDir) : value;
  return key === 'auto_approve_patterns' ? value : expanded(value, homeDir);
}

/** `~/` at the beginning of a text stands for nothing but the home folder, in whatever setting. */
function expanded(value: unknown, homeDir: string): unknown {
  if (typeof value === 'string') return expandHome(value, homeDir);
  if (Array.isArray(value)) return value.map((part: unknown) => expanded(part, homeDir));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]: [string, unknown]) => [
      expandHome(name, homeDir),
      expanded(part, homeDir),
    ]),
  );
}

/** One error in the words that all of them use, without values that may be secret. */
export function errorLine(origin: string, name: string, value: unknown, expected: string): string {
  return `${origin}: ${name}: found ${shown(withoutValues(name, value))}, expected ${expected}`;
}

function issueLine({ key, value, origin }: FoundSetting, issue: z.core.$ZodIssue): string {
  if (issue.path.length === 0) {
    const expected = issue.code === 'custom' ? issue.message : factsOf(key).expected;
    return errorLine(origin, key, value, expected);
  }
  if (issue.code === 'invalid_key') {
    const expected = issue.issues[0]?.message ?? issue.message;
    return errorLine(origin, `a key of ${nameOf(key, issue.path.slice(0, -1))}`, issue.path.at(-1), expected);
  }
  const part = issue.path.reduce<unknown>(
    (whole, step) => (typeof whole === 'object' && whole !== null ? Reflect.get(whole, step) : undefined),
    value,
  );
  return errorLine(origin, nameOf(key, issue.path), part, issue.message);
}

function nameOf(key: string, path: readonly PropertyKey[]): string {
  const steps = path.map((step) =>
    typeof step === 'string' ? `.${oneLine(step, SHOWN_CHARS)}` : `[${String(step)}]`,
  );
  return `${key}${steps.join('')}`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCommand(value: unknown): value is string | string[] {
  return (
    typeof value === 'string' || (Array.isArray(value) && value.every((word) => typeof word === 'string'))
  );
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : oneLine(JSON.stringify(value), SHOWN_CHARS);
}

/**
 * Who writes `NAME=value` instead of the name of a variable has written a secret, perhaps, and the address of a webhook holds one; a
 * client shows errors to its model.
 */
function withoutValues(name: string, value: unknown): unknown {
  if (/^notify(?!\.on\b)/.test(name)) return withTexts(value, () => '…');
  if (!name.startsWith('pass_environment')) return value;
  return withTexts(value, (text) => text.replace(/=[^]*$/, '=…'));
}

function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((part: unknown) => withTexts(part, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]: [string, unknown]) => [name, withTexts(part, change)]),
  );
}
