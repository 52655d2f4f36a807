import { describe, expect, test } from 'vitest';
import { formatOf } from '../../src/clients/formats/format-of.js';

const name = 'claude-code-bridge';
const entry = { command: 'npx', args: ['-y', 'claude-code-bridge'], timeout: 300 };

const samples = {
  json: [
    '{\n  // mine\n  "theme": "dark", // loud\n  "servers": {\n    "other": { "command": "x" }, // first\n  },\n}\n',
    '{"servers":{"other":{"command":"x"}},"last":1}',
    '\ufeff{\r\n\t"servers": {\r\n\t\t"other": { "command": "x" }\r\n\t}\r\n}\r\n',
    '{\n  "theme": "dark"\n}\n',
    '{ "a": 1 }',
  ],
  toml: [
    '# mine\nmodel = "m"   # good\n\n[servers.other]  # first\ncommand = "x"\nargs = [\n  "a", # one\n  "b",\n]\n\n[servers.other.env]\nKEY = \'v\'\n\n[profiles.x]\nmodel="y"\n# end\n',
    'servers = { other = { command = "x" } } # one line\n',
    'servers.other.command = "x"\n',
    '[[hooks]]\r\nrun = "x"\r\n',
    'a = 1979-05-27T07:32:00Z\nb = """\nmany\nlines"""',
  ],
  yaml: [
    '# mine\nmodel: m   # good\nservers:\n  # first\n  other:\n    cmd: x\n    args:\n    - a\n    - "b"\n    envs: {}\n    timeout: 300 # long\n\n# what follows\nlast: >-\n  folded\n  text\n',
    'servers:\n    other: {cmd: x}\nlast: 1\n',
    'servers: {other: {cmd: x}}\n',
    'model: m',
    '# only a comment\n',
    'servers:\n  other:\n    text: |\n      block\n',
  ],
} as const;

const cases = (['json', 'toml', 'yaml'] as const).flatMap((format) =>
  samples[format].map((text) => ({ format, text })),
);

describe('settings', () => {
  test.each(cases)(
    'in $format keep every line when an entry comes and goes: $text',
    async ({ format, text }) => {
      const { servers, withEntry, withoutEntry } = await formatOf(format);
      const before = servers(text, 'servers');
      const added = withEntry(text, 'servers', name, entry);
      const after = servers(added, 'servers');
      if (before.kind !== 'servers' || after.kind !== 'servers') throw new Error('not read');
      expect(after.servers).toEqual({ ...before.servers, [name]: entry });
      expect(servers(withEntry(added, 'servers', name, { command: 'other' }), 'servers')).toEqual({
        kind: 'servers',
        rest: before.rest,
        servers: { ...before.servers, [name]: { command: 'other' } },
      });
      const removed = withoutEntry(added, 'servers', name);
      // A line end is added behind the last line.
      expect(removed.trimEnd()).toBe(text.trimEnd());
      const lines = text.split(/\r?\n/).filter((line) => !line.includes('{'));
      for (const line of lines) expect(added).toContain(line);
    },
  );

  test.each(['json', 'toml', 'yaml'] as const)(
    'that are empty become an entry alone in %s',
    async (format) => {
      const { servers, withEntry, withoutEntry, print, isEmpty } = await formatOf(format);
      const added = withEntry('', 'servers', name, entry);
      expect(servers(added, 'servers')).toEqual({ kind: 'servers', servers: { [name]: entry }, rest: {} });
      expect(servers(print('servers', name, entry), 'servers')).toEqual(servers(added, 'servers'));
      expect(isEmpty(withoutEntry(added, 'servers', name))).toBe(true);
    },
  );

  test.each([
    ['json', '{ "servers": '],
    ['json', '{ "servers": [] }'],
    ['toml', 'servers = 7'],
    ['toml', '[servers'],
    ['yaml', 'servers: [1]'],
    ['yaml', 'a: b: c: {'],
    ['yaml', '- a\n- b\n'],
  ] as const)('that are broken are named: %s %s', async (format, text) => {
    const read = (await formatOf(format)).servers(text, 'servers');
    expect(read).toMatchObject({ kind: 'broken' });
  });

  test('in JSON keep a comment that stands where the entry was', async () => {
    const { withEntry, withoutEntry } = await formatOf('json');
    const text = '{\n  "servers": {\n    // mine\n  }\n}\n';
    const removed = withoutEntry(withEntry(text, 'servers', name, entry), 'servers', name);
    expect(removed).toContain('// mine');
  });

  test.each([
    [
      'yaml',
      'servers: { one: { x: 1 } } # why\nk:\n    - deep:    1\n      o: 012\nbig: 123456789012345678901\n',
    ],
    ['yaml', '{a: 1, servers: {one: {x: 1}}}\n'],
    ['yaml', '{a: 1}\n'],
    ['yaml', 'servers: {}\n'],
    ['yaml', 'servers:\n# none yet\nlast: 1\n'],
    ['toml', 'n = 9223372036854775807\nd = 1979-05-27\ni = inf\n'],
    ['toml', '[servers.one]\nn = 9007199254740993\n'],
    ['json', '{ "servers": null, "last": 1 }\n'],
  ] as const)('keep what is rare as it is written in %s: %s', async (format, text) => {
    const { servers, withEntry, withoutEntry } = await formatOf(format);
    const before = servers(text, 'servers');
    if (before.kind !== 'servers') throw new Error(before.why);
    const added = withEntry(text, 'servers', name, entry);
    expect(servers(added, 'servers')).toEqual({ ...before, servers: { ...before.servers, [name]: entry } });
    expect(servers(withoutEntry(added, 'servers', name), 'servers')).toMatchObject({
      servers: before.servers,
    });
    for (const part of [
      '    - deep:    1\n      o: 012\nbig: 123456789012345678901\n',
      '9223372036854775807',
    ])
      if (text.includes(part)) expect(added).toContain(part);
  });

  test('in TOML keep the comment of the next table when an entry between is replaced and removed', async () => {
    const { withEntry, withoutEntry } = await formatOf('toml');
    const text = `[servers.${name}]\ncommand = 'old'\n\n# about z\n[z]\nk = 1\n`;
    const replaced = withEntry(text, 'servers', name, entry);
    expect(replaced).toContain('# about z\n[z]\nk = 1\n');
    expect(withoutEntry(replaced, 'servers', name)).toContain('# about z\n[z]\nk = 1\n');
  });

  test('in TOML have no comma at the end of an inline table, which TOML 1.0 refuses', async () => {
    const { withEntry } = await formatOf('toml');
    const text = 'list = [\n  1,\n]\nservers = { other = { command = "x" } }\n';
    expect(withEntry(text, 'servers', name, entry)).not.toMatch(/,\s*\}/);
  });
});
