import type { z } from 'zod';
import { BridgeError, messageOf } from '../errors.js';
import { oneLine } from '../text.js';
import { replaceFile, type AtomicWrite } from './folders.js';
import { readRegularFile } from './regular-file.js';

type JsonFile<T> =
  | { readonly state: 'ok'; readonly value: T }
  | { readonly state: 'missing' }
  /** It exists but is not valid; `why` completes the sentence "the file is unusable: …". */
  | { readonly state: 'corrupt'; readonly why: string; readonly isEmpty?: boolean };

/** Far more than the bridge ever writes. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;
const MAX_WHY_CHARS = 500;

/**
 * Reads a JSON file and checks it with a schema. Only regular files of at most `maxBytes` (64 MB) are read. Throws BridgeError
 * STATE_UNUSABLE on a system error (permissions, too many open files, a failing disk): that says nothing about the content.
 */
export async function readJsonFile<T>(
  path: string,
  schema: z.ZodType<T>,
  maxBytes = MAX_JSON_BYTES,
): Promise<JsonFile<T>> {
  const read = await readRegularFile(path, maxBytes).catch((error: unknown) => {
    throw unusable('read', path, error);
  });
  if (read.state === 'missing') return read;
  if (read.state === 'refused') return corrupt(read.why);
  // Without the mark of UTF-8 at its start, too.
  const text = read.bytes.toString('utf8').trim();
  if (text === '') return { ...corrupt('it is empty'), isEmpty: true };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return corrupt(`it is not JSON: ${messageOf(error)}`);
  }
  const parsed = schema.safeParse(json);
  return parsed.success ? { state: 'ok', value: parsed.data } : corrupt(problemsOf(parsed.error));
}

/** Reads settings of Claude Code. An empty file counts as missing: a sandbox that is killed leaves some behind. */
export async function readSettingsFile<T>(path: string, schema: z.ZodType<T>): Promise<JsonFile<T>> {
  try {
    const read = await readJsonFile(path, schema);
    return read.state === 'corrupt' && read.isEmpty === true ? { state: 'missing' } : read;
  } catch (error) {
    if (error instanceof BridgeError) return corrupt(error.message);
    throw error;
  }
}

/** What a schema found wrong, on one line. */
export function problemsOf({ issues }: z.ZodError): string {
  const problems = issues.map(
    ({ path, message }) => `${path.map(String).join('.') || 'the whole'}: ${message}`,
  );
  return oneLine(problems.join('; '), MAX_WHY_CHARS);
}

/**
 * Replaces a file with `value` as JSON, see `replaceFile`. Throws BridgeError STATE_UNUSABLE, also for more than `maxBytes`, which
 * could not be read back; then the old content stays.
 */
export async function writeJsonFileAtomically(
  path: string,
  value: unknown,
  {
    mode = 0o600,
    durable = true,
    maxBytes = MAX_JSON_BYTES,
  }: Partial<AtomicWrite> & { readonly maxBytes?: number } = {},
): Promise<void> {
  try {
    const text = `${JSON.stringify(value, null, 2)}\n`;
    if (Buffer.byteLength(text) > maxBytes)
      throw new Error(`it would be larger than ${maxBytes} bytes and could not be read back`);
    await replaceFile(path, text, { mode, durable });
  } catch (error) {
    throw unusable('write', path, error);
  }
}

function corrupt(why: string): { readonly state: 'corrupt'; readonly why: string } {
  return { state: 'corrupt', why: oneLine(why, MAX_WHY_CHARS) };
}

function unusable(verb: 'read' | 'write', path: string, error: unknown): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `Cannot ${verb} ${path}: ${messageOf(error)}`,
    'Check that the folder exists and belongs to you, that its disk has space, and that not too many files are open.',
    { cause: error },
  );
}
