import { expect, test } from 'vitest';
import { describeConfig } from '../../src/config/describe-config.js';
import { configSchema } from '../../src/config/schema.js';

test('shows every key, and names alone of what is passed on', () => {
  const config = configSchema.parse({ pass_environment: ['TOKEN'] });
  expect(describeConfig(config)).toEqual(config);
  expect(describeConfig(config)).not.toBe(config);
});

test('leaves out what a command sets for its program', () => {
  const shown = (claude_command: string | string[]) =>
    describeConfig(configSchema.parse({ claude_command })).claude_command;
  expect(shown('env TOKEN="top secret" claude --a=b')).toEqual(['env', 'TOKEN=…', 'claude', '--a=b']);
  expect(shown(['env', 'TOKEN=top\nsecret', 'claude'])).toEqual(['env', 'TOKEN=…', 'claude']);
  expect(shown('claude --debug')).toBe('claude --debug');
});
