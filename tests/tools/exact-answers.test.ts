import { expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/mcp/answers.js';
import { listFiles, searchFiles } from '../../src/tools/files/list.js';
import { explorerOf, writeTree } from '../files/explorer.js';
import { tempFolder } from '../harness/temp-folder.js';
import { FakeTaskService, taskRecord } from './fake-task-service.js';
import { serverParts } from '../mcp/serving.js';

const objectSchema = z.object({ properties: z.record(z.string(), z.unknown()) });
const itemsSchema = z.object({ type: z.literal('array'), items: objectSchema });

/** No field but those that the schema names, in its order; of lists of objects, each of them. */
function expectExact(answer: unknown, schema: unknown): void {
  const { properties } = objectSchema.parse(schema);
  const fields = z.record(z.string(), z.unknown()).parse(answer);
  const names = Object.keys(fields);
  expect(names).toEqual(Object.keys(properties).filter((name) => names.includes(name)));
  for (const name of names) {
    const list = itemsSchema.safeParse(properties[name]);
    if (!list.success) continue;
    for (const item of z.array(z.unknown()).parse(fields[name])) expectExact(item, list.data.items);
  }
}

it.each([
  ['list_files', listFiles, { depth: 2, max_bytes: 1_000 }],
  ['list_files', listFiles, { depth: 2, names: true, max_bytes: 1_000 }],
  ['search_files', searchFiles, { query: 'found', max_bytes: 1_000 }],
  ['search_files', searchFiles, { query: 'found', context: 1, max_bytes: 1_000 }],
  ['search_files', searchFiles, { query: 'file', names: true, max_bytes: 1_000 }],
])('an answer that is not looked at again holds what its schema says: %s', async (_, tool, args) => {
  const root = await tempFolder();
  for (let n = 0; n < 60; n++)
    await writeTree(root, { [`folder/file-number-${n}`]: 'above\nfound\nbelow\n' });
  const { services } = serverParts(new FakeTaskService(taskRecord()));
  const call = { signal: new AbortController().signal, progress: () => undefined };
  const answered = await tool.run(
    { ...args, path: root },
    { ...services, explorer: async () => explorerOf(root) },
    call,
  );
  const answer: JsonObject = z.record(z.string(), z.unknown()).parse(JSON.parse(JSON.stringify(answered)));
  expect(answer['cursor']).toBeTypeOf('string');
  expectExact(answer, tool.listing.outputSchema);
});
