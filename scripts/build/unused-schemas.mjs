import { readFileSync } from 'node:fs';

const sdkFiles = /@modelcontextprotocol[\\/](core|server)[\\/]dist[\\/].*\.mjs$/;

/** The SDK's table of every schema of the protocol by its name, for callers of `specTypeSchemas`, of which there are none here. */
const tableLoops = /^for \(const .*\bregister\(key, .*\);$/gm;
const TABLE_LOOPS = 2;

/**
 * The SDK builds 650 schemas when it is loaded, for a table that nothing here asks; what a connection needs it builds later, by era.
 * Without the table and with each definition marked as free of side effects, the bundler leaves out what nothing uses: a fifth of a start.
 * Throws when the SDK no longer looks so.
 */
export const unusedSchemas = {
  name: 'unused-schemas',
  setup({ onLoad }) {
    onLoad({ filter: sdkFiles }, ({ path }) => {
      const source = markPure(readFileSync(path, 'utf8'));
      if (!source.includes('const _specTypeSchemas = {};')) return { contents: source, loader: 'js' };
      const found = source.match(tableLoops)?.length ?? 0;
      if (found !== TABLE_LOOPS)
        throw new Error(`${path}: ${found} loops fill the table of schemas, not ${TABLE_LOOPS}.`);
      return { contents: source.replace(tableLoops, ''), loader: 'js' };
    });
  },
};

/** Wraps each top-level `const X = z.…;` (or `= OtherSchema.…;`) in a call marked as pure. A statement ends at the first unindented `;`. */
function markPure(source) {
  const lines = source.split('\n');
  const marked = [];
  for (let at = 0; at < lines.length; at++) {
    const head = /^const \w+ = (?=(?:z|\w+Schema)\.)/.exec(lines[at])?.[0];
    if (head === undefined) {
      marked.push(lines[at]);
      continue;
    }
    let end = at;
    while (!/^\S.*;$/.test(lines[end])) end++;
    const body = lines.slice(at, end + 1).join('\n');
    marked.push(`${head}/* @__PURE__ */ (() => ${body.slice(head.length, -1)})();`);
    at = end;
  }
  return marked.join('\n');
}
