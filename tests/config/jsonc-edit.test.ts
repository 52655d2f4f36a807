import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { editJson } from '../../src/config/jsonc-edit.js';

const added = { path: ['servers', 'mine'], value: { command: 'npx', args: ['-y'] } };

test('an entry beside others leaves their lines as they are', () => {
  const text = '{\n    "servers": {\n        "other":   { "a":1 } // kept\n    },\n    "x": [1,2]\n}\n';
  expect(editJson(text, [added])).toBe(
    '{\n    "servers": {\n        "other":   { "a":1 },\n        "mine": {\n            "command": "npx",\n            "args": [\n                "-y"\n            ]\n        } // kept\n    },\n    "x": [1,2]\n}\n',
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
