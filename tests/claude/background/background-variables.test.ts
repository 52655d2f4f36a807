import { expect, it } from 'vitest';
import { sessionVariables, serviceEnvironment } from '../../../src/claude/background/background-variables.js';
import { MARK_VARIABLE } from '../../../src/os/mark-variable.js';
import { loopbackPastProxy } from '../../../src/pty/loopback-past-proxy.js';

const env = loopbackPastProxy({
  PATH: '/usr/bin',
  ANTHROPIC_API_KEY: 'key',
  HTTPS_PROXY: 'http://proxy.example:3128',
  NO_PROXY: 'gateway.example',
  [MARK_VARIABLE]: 'mark',
});

it('a session sends its hooks past the proxy of a service that knows no exception for them', () => {
  expect(sessionVariables(env, 'token')).toMatchObject({
    NO_PROXY: 'gateway.example,127.0.0.1',
    no_proxy: 'gateway.example,127.0.0.1',
  });
});

it('its settings hold no key, and the service gets neither mark nor token', () => {
  const own = sessionVariables(env, 'token');
  expect(Object.values(own)).not.toContain('key');
  expect(own).toMatchObject({ [MARK_VARIABLE]: 'mark' });
  expect(Object.values(serviceEnvironment({ ...env, ...own }))).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(mark|token)$/)]),
  );
});
