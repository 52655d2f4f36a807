import { isAlias, isMap, isScalar, parseDocument, stringify, type Document } from 'yaml';
import { serversOf } from './servers-of.js';
import type { Entry, ServersRead, SettingsFormat } from './settings-format.js';
import { cutBlock, cutFlow, endOf, insertBlock, insertFlow, pairOf } from './yaml-pairs.js';

/** Lines are spliced in and cut out, so that the layout of everything else stays. */
export const yamlFormat: SettingsFormat = { servers, withEntry, withoutEntry, print, isEmpty };

function servers(text: string, serversKey: string): ServersRead {
  const document = parse(text);
  const [error] = document.errors;
  if (error !== undefined)
    return { kind: 'broken', why: `broken YAML: ${error.message.split('\n')[0] ?? ''}` };
  const whole: unknown = document.toJS();
  if (whole === null || whole === undefined) return { kind: 'servers', servers: {}, rest: {} };
  if (!isMap(document.contents)) return { kind: 'broken', why: 'expected a mapping' };
  if (isAlias(document.get(serversKey, true)))
    return { kind: 'broken', why: `${serversKey}: it is an alias of another part of the file` };
  return serversOf(whole, serversKey);
}

function withEntry(text: string, serversKey: string, name: string, entry: Entry): string {
  const read = servers(text, serversKey);
  if (read.kind === 'servers' && Object.hasOwn(read.servers, name))
    return withEntry(withoutEntry(text, serversKey, name), serversKey, name, entry);
  const { contents } = parse(text);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = stringify({ [name]: entry }).replaceAll('\n', eol);
  const nested = print(serversKey, name, entry).replaceAll('\n', eol);
  if (contents === null) return appended(text, nested);
  if (!isMap(contents)) throw new Error('the file holds no mapping');
  const known = pairOf(contents, serversKey);
  if (known === undefined)
    return contents.flow === true
      ? insertFlow(text, contents, { [serversKey]: { [name]: entry } })
      : appended(text, nested);
  if (isMap(known.value)) {
    if (known.value.flow === true) return insertFlow(text, known.value, { [name]: entry });
    return insertBlock(text, known.value, lines);
  }
  // A key without a value holds nothing yet.
  const isEmptyKey = known.value === null || (isScalar(known.value) && known.value.source === '');
  if (contents.flow === true || !isEmptyKey) throw new Error(`${serversKey} is no mapping`);
  const at = endOf(text, known);
  const gap = text.slice(0, at).endsWith('\n') ? '' : '\n';
  return text.slice(0, at) + gap + lines.replaceAll(/^(?=.)/gm, '  ') + text.slice(at);
}

function withoutEntry(text: string, serversKey: string, name: string): string {
  const { contents } = parse(text);
  const known = isMap(contents) ? pairOf(contents, serversKey)?.value : undefined;
  if (!isMap(contents) || !isMap(known)) throw new Error(`${serversKey} is no mapping`);
  const isLast = known.items.length === 1;
  const [parent, key] = isLast ? ([contents, serversKey] as const) : ([known, name] as const);
  return parent.flow === true ? cutFlow(text, parent, key) : cutBlock(text, parent, key);
}

function print(serversKey: string, name: string, entry: Entry): string {
  return stringify({ [serversKey]: { [name]: entry } });
}

function isEmpty(text: string): boolean {
  return /^\s*(?:\{\s*\})?\s*$/.test(text);
}

function appended(text: string, lines: string): string {
  return text === '' || text.endsWith('\n') ? text + lines : `${text}\n${lines}`;
}

function parse(text: string): Document.Parsed {
  return parseDocument(text, { intAsBigInt: true });
}
