// Pure: what is expected of a value, in words that follow from its schema.
import { z } from 'zod';

type Type = z.core.$ZodType;

const words = z.registry<{ readonly expected: string }>();

/** The type, about which an error says that these words were expected. */
export function worded<Of extends Type>(expected: string, type: Of): Of {
  words.add(type, { expected });
  return type;
}

/** The type without default, and without what else may be missing. */
export function innerOf(type: Type): Type {
  let inner = type;
  while (
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodNullable ||
    inner instanceof z.ZodOptional
  )
    inner = inner.def.innerType;
  return inner;
}

/** The words that the type declares, or those that follow from a number, a choice or an object; undefined for other types. */
export function wordsOf(type: Type): string | undefined {
  const inner = innerOf(type);
  const own = words.get(inner)?.expected;
  if (own !== undefined) return own;
  if (inner instanceof z.ZodBoolean) return 'true or false';
  if (inner instanceof z.ZodNumber && inner.isInt && Number(inner.maxValue) < Number.MAX_SAFE_INTEGER)
    return `a whole number from ${inner.minValue} to ${inner.maxValue}`;
  if (inner instanceof z.ZodEnum) return `one of "${inner.options.join('", "')}"`;
  if (!(inner instanceof z.ZodObject)) return undefined;
  const names = Object.keys(inner.shape).map((name) => `"${name}"`);
  return `an object with any of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** What is expected at a place in a value of this type: the words there, or those that the nearest type around it declares. */
export function expectedAt(type: Type, path: readonly PropertyKey[]): string | undefined {
  let at = innerOf(type);
  let declared = words.get(at)?.expected;
  for (const step of path) {
    const from = at instanceof z.ZodUnion ? at.options.find((one) => one instanceof z.ZodArray) : at;
    let next: Type | undefined;
    if (from instanceof z.ZodObject)
      next = Object.entries<Type>(from.shape).find(([name]) => name === step)?.[1];
    else if (from instanceof z.ZodArray) next = from.element;
    else if (from instanceof z.ZodRecord) next = from.valueType;
    if (next === undefined) break;
    at = innerOf(next);
    declared = words.get(at)?.expected ?? declared;
  }
  return wordsOf(at) ?? declared;
}
