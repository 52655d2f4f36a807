// Pure: the JSON Schema of a zod object as clients see it, without what only costs bytes.
import { z } from 'zod';
import { isObject, type JsonObject } from './json-object.js';

/** What zod writes for every `z.int()`; a bound that every integer keeps says nothing. */
const SAFE_BOUNDS: ReadonlySet<unknown> = new Set([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);
/** Unknown arguments are refused with the nearest known name, and `$schema` is the protocol's default dialect. */
const NOISE: ReadonlySet<string> = new Set(['$schema', 'additionalProperties', 'propertyNames']);

/** Objects inside a list are shown as objects: their fields are on the generated page of tools. */
const SHOWN_LIST_DEPTH = 0;

type Direction = 'input' | 'output';

/**
 * `input`: what a caller may send, defaults optional. `output`: what a caller gets; which fields are always there, and
 * what is deeply nested, is left out, because it costs more bytes than it helps a reader.
 */
export function wireSchema(schema: z.ZodObject, io: Direction): JsonObject {
  return trimmed(z.toJSONSchema(schema, { io }), io, 0);
}

function trimmed(node: JsonObject, io: Direction, listDepth: number): JsonObject {
  const reduced: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (isNoise(key, value, io)) continue;
    if (key === 'properties' && isObject(value)) {
      if (io === 'output' && listDepth > SHOWN_LIST_DEPTH) continue;
      reduced[key] = Object.fromEntries(
        Object.entries(value).map(([name, field]) => [name, part(field, io, listDepth)]),
      );
    } else {
      reduced[key] = Array.isArray(value)
        ? value.map((item: unknown) => part(item, io, listDepth))
        : part(value, io, key === 'items' ? listDepth + 1 : listDepth);
    }
  }
  return reduced;
}

function part(value: unknown, io: Direction, listDepth: number): unknown {
  return isObject(value) ? trimmed(value, io, listDepth) : value;
}

function isNoise(key: string, value: unknown, io: Direction): boolean {
  if (key === 'additionalProperties') return !isObject(value);
  if (NOISE.has(key)) return true;
  if (key === 'required') return io === 'output';
  return (key === 'minimum' || key === 'maximum') && SAFE_BOUNDS.has(value);
}
