import { parse } from '@decimalturn/toml-patch';
import { expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { formatOf } from '../../../src/clients/formats/format-of.js';
import { seededRandom } from '../../harness/seeded-random.js';

const SEED = Number(process.env['SETTINGS_SEED'] ?? 1);
const FILES = 500;
const NAME = 'claude-code-bridge';
const ENTRY = { command: 'npx', args: ['-y', 'claude-code-bridge'], timeout: 300 };

interface Language {
  readonly format: 'toml' | 'yaml';
  /** Pieces of a file; of those with the same first word, a file has one. */
  readonly pieces: readonly string[];
  readonly servers: readonly string[];
  readonly parse: (text: string) => unknown;
}

const languages: readonly Language[] = [
  {
    format: 'yaml',
    pieces: [
      '# of the person\n',
      'a: 1 # why\n',
      'b:\n  - 1\n  - x: 2\n',
      'c:\n- 1\n- 2\n',
      'd: |\n  text\n  more\n',
      'e: {x: 1}\n',
      '"quoted key": "v"\n',
      'f: &anchor\n    deep:\n        deeper: 1\n',
      'g: >-\n  folded\n\n  text\n',
      '\n',
    ],
    servers: [
      '',
      'servers:\n  one:\n    cmd: x # why\n    args:\n    - a\n',
      'servers:\n    one: {cmd: x}\n    # between\n    two:\n        text: |\n            literal\n',
      'servers: {one: {cmd: x}}\n',
      'servers:\n',
      'servers:\n  # first\n  one:\n    cmd: x\n  # last\n',
    ],
    parse: (text): unknown => parseDocument(text).toJS(),
  },
  {
    format: 'toml',
    pieces: [
      '# of the person\n',
      'a = 1 # why\n',
      'b = [1, 2]\n',
      'c = """\nmany\nlines\n"""\n',
      'd = { x = 1 }\n',
      '"quoted key" = "v"\n',
      'e.f = 1979-05-27T07:32:00Z\n',
      '\n',
    ],
    servers: [
      '',
      '[servers.one] # why\ncommand = "x"\n\n[servers.one.env]\nKEY = \'v\'\n',
      '[servers."quoted name"]\nargs = [\n  "a", # one\n]\n\n[profiles.x]\ny = 1\n# last\n',
      'servers = { one = { command = "x" } }\n',
      'servers.one.command = "x"\n',
      '[servers]\n\n[[hooks]]\nrun = "x"\n',
    ],
    parse,
  },
];

function randomFile(random: () => number, { pieces, servers }: Language): string {
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
  const keys = new Set<string>();
  const chosen: string[] = [];
  for (let count = Math.floor(random() * 6); count > 0; count--) {
    const piece = pick(pieces);
    const [key = ''] = piece.split(/[ :=.]/);
    if (/\w/.test(key) && keys.has(key)) continue;
    keys.add(key);
    chosen.push(piece);
  }
  const text = chosen.join('') + pick(servers);
  const ended = random() < 0.15 ? text.trimEnd() : text;
  return random() < 0.1 ? ended.replaceAll('\n', '\r\n') : ended;
}

const wholeSchema = z.record(z.string(), z.unknown()).nullable().optional();

/** All that the file says besides its servers. */
function others(text: string, { parse }: Language): unknown {
  const whole = wholeSchema.parse(parse(text)) ?? {};
  return JSON.parse(JSON.stringify({ ...whole, servers: undefined }));
}

test.each(languages)(
  'whatever stands in a file of $format, only the entry comes and goes',
  async (language) => {
    const { servers, withEntry, withoutEntry } = await formatOf(language.format);
    const random = seededRandom(SEED);
    for (let file = 0; file < FILES; file++) {
      const text = randomFile(random, language);
      const why = `SETTINGS_SEED=${SEED}, file ${file}: ${JSON.stringify(text)}`;
      const before = servers(text, 'servers');
      if (before.kind !== 'servers') throw new Error(`not read: ${why}`);
      const added = withEntry(text, 'servers', NAME, ENTRY);
      expect(servers(added, 'servers'), why).toEqual({
        kind: 'servers',
        rest: before.rest,
        servers: { ...before.servers, [NAME]: ENTRY },
      });
      const removed = withoutEntry(added, 'servers', NAME);
      expect(servers(removed, 'servers'), why).toEqual(before);
      for (const after of [added, removed]) {
        expect(others(after, language), why).toEqual(others(text, language));
        for (const comment of text.match(/#.*/g) ?? []) expect(after, why).toContain(comment.trim());
      }
    }
  },
);
