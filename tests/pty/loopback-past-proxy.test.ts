import { expect, it } from 'vitest';
import { loopbackPastProxy } from '../../src/pty/child-env.js';

it('changes nothing without a proxy', () => {
  expect(loopbackPastProxy({ PATH: '/bin', HTTP_PROXY: '' })).toEqual({ PATH: '/bin', HTTP_PROXY: '' });
});

it.each([
  ['no exceptions', {}, '127.0.0.1', '127.0.0.1'],
  [
    'exceptions by one name',
    { no_proxy: 'a.example, .b' },
    'a.example,.b,127.0.0.1',
    'a.example,.b,127.0.0.1',
  ],
  ['exceptions by both names', { NO_PROXY: 'one', no_proxy: 'two' }, 'one,127.0.0.1', 'two,127.0.0.1'],
  ['127.0.0.1 among them', { NO_PROXY: 'localhost,127.0.0.1' }, 'localhost,127.0.0.1', 'localhost,127.0.0.1'],
  ['no host through the proxy', { NO_PROXY: '*' }, '*', '*'],
] as const)('reaches 127.0.0.1 without the proxy: with %s', (_what, given, upper, lower) => {
  const env = { https_proxy: 'http://proxy:8080', ...given };
  expect(loopbackPastProxy(env)).toEqual({ ...env, NO_PROXY: upper, no_proxy: lower });
});
