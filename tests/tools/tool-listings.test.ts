import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { errorCodes } from '../../src/base/errors.js';
import { configSchema } from '../../src/config/schema.js';
import { isForModels } from '../../src/mcp/apps.js';
import { isObject, type JsonObject } from '../../src/mcp/json-object.js';
import { enabledTools } from '../../src/tools/registry.js';
import { allTools } from './all-tools.js';
import { toolLoaders } from '../../src/tools/tool-loaders.js';

const snapshots = new URL('__toolsnaps__/', import.meta.url);
/** What reaches a model of the default toolsets, and the whole list. */
const MODEL_LIMIT_BYTES = 10_240;
const LIST_LIMIT_BYTES = 26_624;

describe('what clients see of a tool', () => {
  test.each(allTools.map((tool) => [tool.listing().name, tool] as const))(
    '%s is as in its snapshot; renew it with: npm run docs',
    async (name, tool) => {
      const text = `${JSON.stringify(tool.listing(), undefined, 2)}\n`;
      await expect(text).toMatchFileSnapshot(`__toolsnaps__/${name}.json`);
    },
  );

  test('no snapshot is left of a tool that is gone', () => {
    const names = allTools.map((tool) => `${tool.name}.json`);
    expect(readdirSync(snapshots).filter((file) => !names.includes(file))).toEqual([]);
  });
});

describe('the list of tools', () => {
  test('is sorted by name, and each name leads to the tool of that name', () => {
    const names = Object.keys(toolLoaders);
    expect(names).toEqual([...names].sort());
    expect(allTools.map((tool) => tool.name)).toEqual(names);
  });

  test('of the default toolsets stays small', () => {
    const listings = enabledTools(configSchema.parse({}).toolsets)
      .filter(isForModels)
      .map((tool) => tool.listing());
    const model = listings.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const modelBytes = bytesOf(model);
    const listBytes = bytesOf(listings);
    process.stderr.write(
      `tools: ${listings.length}; for the model ${modelBytes} B; tools/list ${listBytes} B\n`,
    );
    expect(modelBytes).toBeLessThan(MODEL_LIMIT_BYTES);
    expect(listBytes).toBeLessThan(LIST_LIMIT_BYTES);
  });

  test.each(allTools.map((tool) => [tool.name, tool.listing()] as const))(
    '%s says what it does and takes an object',
    (_name, listing) => {
      expect(listing.description).toMatch(/^[A-Z].*\.$/);
      expect(listing.title).not.toBe('');
      expect(listing.inputSchema['type']).toBe('object');
      expect(listing.outputSchema['type']).toBe('object');
    },
  );

  test('every reply that shows a task lists its decisions', () => {
    const shown = allTools
      .filter(({ toolset }) => toolset !== 'process')
      .map((tool) => tool.listing())
      .filter(({ outputSchema }) => 'status' in propertiesOf(outputSchema));
    for (const { name, outputSchema } of shown)
      expect(Object.keys(propertiesOf(outputSchema)), name).toContain('decisions');
    expect(shown.length).toBeGreaterThan(5);
  });

  test('every error code has a sentence', () => {
    for (const [code, sentence] of Object.entries(errorCodes)) {
      expect(code).toMatch(/^[A-Z_]+$/);
      expect(sentence).toMatch(/^[A-Z].*\.$/);
    }
  });
});

function propertiesOf(schema: JsonObject): JsonObject {
  return isObject(schema['properties']) ? schema['properties'] : {};
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
