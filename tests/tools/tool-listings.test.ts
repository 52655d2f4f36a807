import { describe, expect, test } from 'vitest';
import { errorCodes } from '../../src/base/errors.js';
import { configSchema } from '../../src/config/schema.js';
import { isObject, type JsonObject } from '../../src/mcp/answers.js';
import { enabledTools } from '../../src/tools/registry.js';
import { allTools, toolsForModels } from './all-tools.js';

/** What reaches a model of the default toolsets, and the whole list. */
const MODEL_LIMIT_BYTES = 10_000;
const LIST_LIMIT_BYTES = 24_000;

describe('the list of tools', () => {
  test('of the default toolsets stays small: say less of another tool there, or take another toolset', () => {
    const offered = new Set(enabledTools(configSchema.parse({}).toolsets).map(({ name }) => name));
    const listings = toolsForModels.filter(({ name }) => offered.has(name)).map((tool) => tool.listing);
    const model = listings.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const modelBytes = bytesOf(model);
    const listBytes = bytesOf(listings);
    process.stderr.write(
      `tools: ${listings.length}; for the model ${modelBytes} B; tools/list ${listBytes} B\n`,
    );
    expect(modelBytes).toBeLessThan(MODEL_LIMIT_BYTES);
    expect(listBytes).toBeLessThan(LIST_LIMIT_BYTES);
  });

  test('each says what it does, and takes and gives an object', () => {
    const odd = allTools
      .map((tool) => tool.listing)
      .filter(
        ({ title, description, inputSchema, outputSchema }) =>
          title === '' ||
          !/^[A-Z].*\.$/.test(description) ||
          [inputSchema, outputSchema].some(({ type }) => type !== 'object'),
      );
    expect(odd).toEqual([]);
  });

  test('every reply that shows a task lists its decisions', () => {
    const shown = allTools
      .filter(({ toolset }) => toolset !== 'process')
      .map((tool) => tool.listing)
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
