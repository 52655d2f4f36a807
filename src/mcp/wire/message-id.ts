// Pure: the id of a JSON-RPC message of which only the two ends are known.

export type MessageId = string | number;

const STRING = /"(?:[^"\\]|\\.)*"/y;
const NUMBER = /-?\d+/y;
const SPACE = /\s*/y;
/** Many writers put the id last, some with the version after it; one closing brace ends the message. */
const ID_AT_END = /"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/** Undefined when neither end shows it, or the message is none. */
export function messageIdOf(head: string, tail: string): MessageId | undefined {
  return idInHead(head) ?? parsedId(ID_AT_END.exec(tail)?.[1]);
}

/** Reads the members of the outermost object up to the first that is not a plain string or number. */
function idInHead(head: string): MessageId | undefined {
  let at = skip(SPACE, head, 0);
  if (head[at] !== '{') return undefined;
  do {
    const name = token(STRING, head, skip(SPACE, head, at + 1));
    if (name === undefined) return undefined;
    at = skip(SPACE, head, name.end);
    if (head[at] !== ':') return undefined;
    const start = skip(SPACE, head, at + 1);
    const value = token(STRING, head, start) ?? token(NUMBER, head, start);
    if (value === undefined) return undefined;
    at = skip(SPACE, head, value.end);
    if (name.text === '"id"' && (head[at] === ',' || head[at] === '}')) return parsedId(value.text);
  } while (head[at] === ',');
  return undefined;
}

function token(pattern: RegExp, text: string, at: number): { text: string; end: number } | undefined {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? undefined : { text: match[0], end: at + match[0].length };
}

function skip(pattern: RegExp, text: string, at: number): number {
  return token(pattern, text, at)?.end ?? at;
}

function parsedId(text: string | undefined): MessageId | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' || typeof value === 'number' ? value : undefined;
  } catch {
    // A string with a broken escape: then the message is none either.
    return undefined;
  }
}
