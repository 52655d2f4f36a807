import { expect, test } from 'vitest';
import { configKeys, configSchema, factsOf } from '../../src/config/schema.js';
import { faults, load, place } from './config-place.js';

test('every setting has a default, words, and an environment name of its own', () => {
  const names = configKeys.map((key) => factsOf(key).env);
  expect(names.every((name) => /^MCP_[A-Z_]+$/.test(name))).toBe(true);
  expect(new Set(names).size).toBe(configKeys.length);
  for (const key of configKeys) {
    expect(configSchema.shape[key].safeParse(undefined).success, key).toBe(true);
    expect(configSchema.shape[key].description, key).toMatch(/\.$/);
  }
});

test.each(configKeys.filter((key) => factsOf(key).expected.includes('begins with ~/')))(
  'the path %s may begin with ~/, as its words say',
  async (key) => {
    const list = ['list', 'paths'].includes(factsOf(key).form);
    const at = await place({ [key]: list ? ['~/x'] : '~/x' });
    const expected = `${at.homeDir}/x`;
    expect((await load(at)).config[key]).toEqual(list ? [expected] : expected);
  },
);

test('~ is expanded by the type of a value, also inside an object', async () => {
  const at = await place({ task_container: { home: '~/agent' } });
  expect((await load(at)).config.task_container.home).toBe(`${at.homeDir}/agent`);
  const [wrong] = await faults(await place({ docker_image: '~/x' }));
  expect(wrong).toContain('docker_image: found "~/x", expected the name of an image');
});
