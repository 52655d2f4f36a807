import { z } from 'zod';
import { REPLY_BUDGET_BYTES } from '../mcp/answers.js';
import { toolDefiner } from '../mcp/tool.js';
import type { ToolServices } from './services.js';

/** Defines a tool over this project's services. */
export const defineTool = toolDefiner<ToolServices>();

/** Clients cut calls at 60 s, and progress does not extend that: every call of this server is answered before. */
export const MAX_WAIT_SECONDS = 45;

const MAX_KEYS = 200;
const MAX_KEY_CHARS = 30;
export const keysInput = z.array(z.string().max(MAX_KEY_CHARS)).max(MAX_KEYS).optional();

/** An answer holds its text twice, and none may reach 1 MB. */
export const MAX_OUTPUT_BYTES = 150_000;
/** How much of an output an answer holds. */
export const outputBytesInput = z
  .int()
  .min(100)
  .max(MAX_OUTPUT_BYTES)
  .default(REPLY_BUDGET_BYTES / 2);

/** Where reading goes on, as a number. Cursors of other tools are strings, so a caller may send this one as a string. */
export const offsetInput = z.preprocess(
  (cursor) => (typeof cursor === 'string' && /^\d+$/.test(cursor) ? Number(cursor) : cursor),
  z.int().min(0),
);

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;
type Snake<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : Name;

/** Arguments by the names that services have for them: `max_bytes` is `maxBytes`. What is within them is left as it is. */
export function inCamelCase<T extends object>(
  args: T,
): { readonly [Name in keyof T & string as Camel<Name>]: T[Name] };
export function inCamelCase(args: object): object {
  return renamed(args, (name) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()));
}

/** Facts of a service by the names that callers have for them: `sizeBytes` is `size_bytes`. What is within them is left as it is. */
export function inSnakeCase<T extends object>(
  facts: T,
): { readonly [Name in keyof T & string as Snake<Name>]: T[Name] };
export function inSnakeCase(facts: object): object {
  return renamed(facts, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

function renamed(fields: object, rename: (name: string) => string): object {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [rename(name), value]));
}
