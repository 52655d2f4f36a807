import { z } from 'zod';
import { nearestName } from '../base/text/nearest-name.js';
import { oneLine } from '../base/text/text.js';
import { expandCommand } from './command-words.js';
import { expandHome } from './home-path.js';
import { patternErrors } from './pattern-errors.js';
import { absolutePath, configSchema, factsOf, shellProgram, type ConfigKey } from './schema.js';

/** Enough to recognise a value by. */
const SHOWN_CHARS = 100;

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

/** The value with `~` expanded in its paths and its command; the schema reports values of a wrong type. */
export function withHome(key: ConfigKey, value: unknown, homeDir: string): unknown {
  if (key === 'claude_command') return isCommand(value) ? expandCommand(value, homeDir) : value;
  return withPathsExpanded(configSchema.shape[key], value, homeDir);
}

function withPathsExpanded(schema: z.core.$ZodType, value: unknown, homeDir: string): unknown {
  if (schema === absolutePath || schema === shellProgram)
    return typeof value === 'string' ? expandHome(value, homeDir) : value;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodNullable) {
    return withPathsExpanded(schema.unwrap(), value, homeDir);
  }
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((part: unknown) => withPathsExpanded(schema.element, part, homeDir));
  }
  if (schema instanceof z.ZodRecord && isObject(value)) {
    const expanded = (name: unknown) => withPathsExpanded(schema.keyType, name, homeDir);
    return Object.fromEntries(Object.entries(value).map(([name, part]: unknown[]) => [expanded(name), part]));
  }
  if (schema instanceof z.ZodObject && isObject(value)) {
    const expanded = Object.entries<z.core.$ZodType>(schema.shape).flatMap(([name, part]) =>
      Object.hasOwn(value, name) ? [[name, withPathsExpanded(part, Reflect.get(value, name), homeDir)]] : [],
    );
    return { ...value, ...Object.fromEntries(expanded) };
  }
  return value;
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
  if (/^notify(?!\.on\b)/.test(name)) return withoutStrings(value);
  if (!name.startsWith('pass_environment')) return value;
  if (Array.isArray(value)) return value.map((part: unknown) => withoutValues(name, part));
  return typeof value === 'string' ? value.replace(/=[^]*$/, '=…') : value;
}

function withoutStrings(value: unknown): unknown {
  if (typeof value === 'string') return '…';
  if (Array.isArray(value)) return value.map(withoutStrings);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]: [string, unknown]) => [name, withoutStrings(part)]),
  );
}
