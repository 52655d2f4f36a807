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

test('the names that the specification gives are kept', () => {
  const names = Object.fromEntries(configKeys.map((key) => [factsOf(key).env, key]));
  expect(names).toMatchObject({
    MCP_ALLOWED_ROOTS: 'allowed_roots',
    MCP_DEFAULT_TIMEOUT: 'default_timeout_seconds',
    MCP_MAX_LOG_SIZE: 'max_log_size_bytes',
    MCP_TASK_HISTORY_SIZE: 'task_history_size',
    MCP_MAX_CONCURRENT_TASKS: 'max_concurrent_tasks',
    MCP_RULES: 'rules',
    MCP_DELEGATE_MAX_RUNNING: 'delegate_max_running',
    MCP_CONVERSATION_SKIP_PERMISSIONS: 'conversation_skip_permissions',
    MCP_TREE_DEPTH: 'default_tree_depth',
    MCP_MAX_DIFF_SIZE: 'max_diff_size_bytes',
    MCP_SHELL: 'shell',
    MCP_DOCKER_IMAGE: 'docker_image',
    MCP_TASK_CONTAINER: 'task_container',
    MCP_CLAUDE_COMMAND: 'claude_command',
    MCP_LOG_LEVEL: 'log_level',
    MCP_STATE_DIR: 'state_dir',
  });
});
