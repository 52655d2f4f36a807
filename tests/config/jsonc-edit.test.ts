import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { containersOn, editJson } from '../../src/config/jsonc-edit.js';
import { seededRandom } from '../harness/seeded-random.js';

const added = { path: ['servers', 'mine'], value: { command: 'npx', args: ['-y'] } };

test('an entry beside others leaves their lines as they are', () => {
  const text = '{\n    "servers": {\n        "other":   { "a":1 } // kept\n    },\n    "x": [1,2]\n}\n';
  expect(editJson(text, [added])).toBe(
    '{\n    "servers": {\n        "other":   { "a":1 }, // kept\n        "mine": {\n            "command": "npx",\n            "args": [\n                "-y"\n            ]\n        }\n    },\n    "x": [1,2]\n}\n',
  );
});

test('an object that is missing is made beside what is there', () => {
  expect(editJson('{\n\t"x": {"y":1}\n}\n', [added])).toBe(
    '{\n\t"x": {"y":1},\n\t"servers": {\n\t\t"mine": {\n\t\t\t"command": "npx",\n\t\t\t"args": [\n\t\t\t\t"-y"\n\t\t\t]\n\t\t}\n\t}\n}\n',
  );
});

test.each([
  '',
  '{}',
  ' \n',
  '{"a":1}',
  '{"servers":{}}',
  '{"servers":{"o":{}}}',
  '{ "a": [], }',
  '{"servers":{"mine":1}}',
  '\ufeff{}',
])('%j gains the entry and loses nothing', (text) => {
  const keys = [...text.matchAll(/"(a|o)"/g)].map((match) => match[0]);
  const after = editJson(text, [added]);
  expect(after.startsWith('\ufeff')).toBe(text.startsWith('\ufeff'));
  expect(parse(after.replace('\ufeff', ''), [], { allowTrailingComma: true })).toMatchObject({
    servers: { mine: added.value },
  });
  for (const key of keys) expect(after).toContain(key);
});

test('a list on one line stays on one line', () => {
  expect(editJson('{ "l": ["a"] }', [{ path: ['l', -1], value: 'b', insert: true }])).toBe(
    '{ "l": ["a", "b"] }',
  );
});

const SEED = Number(process.env['SETTINGS_SEED'] ?? 1);

/** An object of JSON with comments, as people write it. */
function randomObject(
  random: () => number,
  { depth, eol, trailing }: { depth: number; eol: string; trailing: boolean },
): string {
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
  const comment = (): string => pick(['', '', ' // why', ' /* why */', ` /* why${eol} */`]);
  const comma = (): string => (trailing && random() < 0.5 ? ',' : '');
  const value = (): string =>
    depth < 3 && random() < 0.5
      ? randomObject(random, { depth: depth + 1, eol, trailing })
      : pick(['1', '"x // y"', 'null', '[1, 2]', '{ "x": "y" }']);
  const keys = ['"a"', '"servers"', '"x y"'].slice(0, Math.floor(random() * 4));
  const members = keys.map(
    (key) => `${key}: ${key === '"servers"' ? randomObject(random, { depth: 3, eol, trailing }) : value()}`,
  );
  if (members.length === 0) return pick(['{}', `{${eol}  // empty${eol}}`]);
  if (random() < 0.3) return `{ ${members.join(', ')}${comma()} }`;
  const indent = pick(['  ', '\t']).repeat(depth + 1);
  const lines = members.map(
    (member, at) => `${indent}${member}${at < members.length - 1 ? ',' : comma()}${comment()}`,
  );
  return `{${comment()}${eol}${lines.join(eol)}${eol}}`;
}

test('what is added and removed leaves no trace, wherever comments and commas stand', () => {
  const random = seededRandom(SEED);
  for (let file = 0; file < 2_000; file++) {
    const eol = random() < 0.5 ? '\n' : '\r\n';
    const text = randomObject(random, { depth: 0, eol, trailing: random() < 0.4 });
    const why = `SETTINGS_SEED=${SEED}, file ${file}: ${JSON.stringify(text)}`;
    const hadServers = containersOn(text, ['servers', '']).length > 1;
    const gone = [
      { path: ['servers', 'mine'], value: undefined },
      ...(hadServers ? [] : [{ path: ['servers'], value: undefined }]),
    ];
    const after = editJson(text, [added]);
    expect(parse(after, [], { allowTrailingComma: true }), why).toMatchObject({
      servers: { mine: added.value },
    });
    expect(editJson(after, gone), why).toBe(text);
  }
});

test('a bracket between two comments of a line closes what stands before it', () => {
  const text = '{ "servers": {\n  "a": 1 /* c */ }, "z": 1 /* d */\n}\n';
  const after = editJson(text, [{ path: ['servers', 'mine'], value: 1 }]);
  expect(after).toBe('{ "servers": {\n  "a": 1,\n  "mine": 1 /* c */ }, "z": 1 /* d */\n}\n');
  expect(editJson(after, [{ path: ['servers', 'mine'], value: undefined }])).toBe(text);
});

test('a comment at the end of a line stays with its element when another one is added', () => {
  const text = '{\n  "l": [\n    "a", // first\n    "b" // last\n  ]\n}\n';
  expect(editJson(text, [{ path: ['l', -1], value: 'c', insert: true }])).toBe(
    '{\n  "l": [\n    "a", // first\n    "b", // last\n    "c"\n  ]\n}\n',
  );
});
