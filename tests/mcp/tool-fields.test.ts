import { expect, test } from 'vitest';
import { z } from 'zod';
import { made, toolDefiner } from '../../src/mcp/tool.js';

const call = { signal: new AbortController().signal, progress: () => undefined };
const facts = {
  name: 'size',
  title: 'Size',
  effect: 'read',
  description: 'The size of a file.',
  input: { max_bytes: z.int().optional(), path: z.string() },
  output: { size_bytes: z.int(), isBinary: z.boolean(), parts: z.array(made<object>()) },
} as const;
const parts = [{ at: 0, more: { deep: 1 } }];

test('a handler has and gives fields by the names of its service; an answer has those of the schema alone, in its order', async () => {
  const given: unknown[] = [];
  const tool = toolDefiner<undefined>()({
    ...facts,
    handle: async (args) => {
      given.push(args);
      return { parts, inode: 7, isBinary: false, sizeBytes: 3 };
    },
  });
  const answer = await tool.run({ path: 'a', max_bytes: 9 }, undefined, call);
  expect(given).toEqual([{ maxBytes: 9, path: 'a' }]);
  expect(Object.entries(answer)).toEqual([
    ['size_bytes', 3],
    ['isBinary', false],
    ['parts', parts],
  ]);
});

test('the names of the schema are understood, too, and a list of objects is listed as one', async () => {
  const tool = toolDefiner<undefined>()({
    ...facts,
    handle: async () => ({ size_bytes: 3, isBinary: true, parts: [] }),
  });
  // Some clients send null for what they leave out.
  expect(await tool.run({ path: 'a', max_bytes: null }, undefined, call)).toEqual({
    size_bytes: 3,
    isBinary: true,
    parts: [],
  });
  expect(tool.listing.outputSchema['properties']).toMatchObject({
    parts: { type: 'array', items: { type: 'object' } },
  });
});
