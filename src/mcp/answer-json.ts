// Pure: an answer as JSON.
import type { JsonObject } from './json-object.js';
import type { LongText } from './long-text.js';
import { bodyField, readableBefore } from './readable.js';

/** JSON in pieces, which together are the text. */
export type JsonPieces = readonly (string | Buffer)[];

/** Shorter texts are written sooner than they are found. */
const LONG_TEXT_UNITS = 32_768;

/** A long text that the readable form prints as it is. */
export function longField(answer: JsonObject): { readonly name: string; readonly text: string } | undefined {
  const body = bodyField(answer);
  return body !== undefined && body.text.length >= LONG_TEXT_UNITS ? body : undefined;
}

/** An answer whose field `name` holds `long`, which is written in both of its places without being looked at again. */
export function answerJson(answer: JsonObject, name: string, long: LongText, textOnly = false): JsonPieces {
  const before = readableBefore(answer, name);
  const text = [`{"content":[{"type":"text","text":"${inside(before)}`, ...long.json, `"}]`];
  if (textOnly) return [...text, '}'];
  const fields = Object.keys(answer).filter((key) => answer[key] !== undefined);
  const at = fields.indexOf(name);
  const written = (keys: readonly string[]): string[] =>
    keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(answer[key])}`);
  const first = [...written(fields.slice(0, at)), `${JSON.stringify(name)}:"`];
  const rest = ['"', ...written(fields.slice(at + 1))];
  return [...text, `,"structuredContent":{${first.join(',')}`, ...long.json, `${rest.join(',')}}}`];
}

export function piecesBytes(pieces: JsonPieces): number {
  return pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

function inside(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
