import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { editJson } from '../../src/config/json-text.js';

const added = { path: ['servers', 'mine'], value: { command: 'npx', args: ['-y'] } };
const gone = { path: ['servers', 'mine'], value: undefined };

test('an entry beside others leaves their lines and comments as they are, and goes without a trace', () => {
  const text =
    '{\n    "servers": {\n        // kept\n        "other":   { "a":1 }\n    },\n    "x": [1,2]\n}\n';
  const after = editJson(text, [added]);
  expect(after).toBe(
    '{\n    "servers": {\n        // kept\n        "other":   { "a":1 },\n        "mine": {\n            "command": "npx",\n            "args": [\n                "-y"\n            ]\n        }\n    },\n    "x": [1,2]\n}\n',
  );
  expect(editJson(after, [gone])).toBe(text);
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

test('a comment at the end of a line stays there when a member is added, and when it goes', () => {
  const text = '{\n  "a": 1 // first\n}\n';
  const two = editJson(text, [{ path: ['b'], value: 2 }]);
  expect(two).toBe('{\n  "a": 1, // first\n  "b": 2\n}\n');
  expect(editJson(two, [{ path: ['b'], value: undefined }])).toBe(text);
  const three = editJson(two, [{ path: ['c'], value: 3 }]);
  expect(editJson(three, [{ path: ['b'], value: undefined }])).toBe('{\n  "a": 1, // first\n  "c": 3\n}\n');
});
