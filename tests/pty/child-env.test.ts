import { expect, it } from 'vitest';
import { childEnvironment, loopbackPastProxy } from '../../src/pty/child-env.js';

const fixed = { TERM: 'xterm-256color', COLORTERM: 'truecolor', CLAUDE_CODE_BRIDGE_MARK: 'm' };

it('a child knows its home, language, proxies and Claude’s own settings', () => {
  const env = {
    HOME: '/h',
    PATH: '/bin',
    LC_ALL: 'C',
    XDG_RUNTIME_DIR: '/run',
    https_proxy: 'p',
    ANTHROPIC_API_KEY: 'k',
    CLAUDE_CONFIG_DIR: '/c',
  };
  expect(childEnvironment(env, { mark: 'm' })).toEqual({ ...env, ...fixed });
});

it('secrets, the outer agent and what changes programs stay behind', () => {
  const env = {
    GITHUB_TOKEN: 's',
    AWS_SECRET_ACCESS_KEY: 's',
    CLAUDECODE: '1',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    NODE_OPTIONS: '--inspect',
    GIT_DIR: '/x',
    CI: 'true',
    TERM: 'dumb',
  };
  expect(childEnvironment(env, { mark: 'm' })).toEqual(fixed);
});

it.each([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
  ['', false],
])('a cloud’s credentials go along with its switch at %j: %s', (value, along) => {
  const env = { CLAUDE_CODE_USE_BEDROCK: value, AWS_REGION: 'r', GOOGLE_APPLICATION_CREDENTIALS: 'g' };
  const expected = along ? { CLAUDE_CODE_USE_BEDROCK: value, AWS_REGION: 'r' } : {};
  expect(childEnvironment(env, { mark: 'm' })).toEqual({ ...expected, ...fixed });
});

it('the user lets further variables through by name or prefix', () => {
  const env = { MY_TOKEN: 'a', MY_OTHER: 'b', NODE_OPTIONS: 'c', GIT_SSH_COMMAND: 'd', REST: 'e' };
  const passEnvironment = ['MY_*', 'GIT_SSH_COMMAND'];
  const passed = { MY_TOKEN: 'a', MY_OTHER: 'b', GIT_SSH_COMMAND: 'd' };
  expect(childEnvironment(env, { mark: 'm', passEnvironment })).toEqual({ ...passed, ...fixed });
});

it('a lone star lets everything through but what leads a child astray', () => {
  const env = { ANY: 'a', CLAUDECODE: '1', NODE_OPTIONS: 'x', GIT_DIR: 'x', CI: '1' };
  expect(childEnvironment(env, { mark: 'm', passEnvironment: ['*'] })).toEqual({ ANY: 'a', ...fixed });
  const named = childEnvironment(env, { mark: 'm', passEnvironment: ['*', 'CI'] });
  expect(named).toEqual({ ANY: 'a', CI: '1', ...fixed });
});

it('extra variables win over inherited ones, the mark over all', () => {
  const extra = { HOME: '/other', CLAUDE_CODE_BRIDGE_MARK: 'forged' };
  expect(childEnvironment({ HOME: '/h', CLAUDE_CODE_BRIDGE_MARK: 'outer' }, { mark: 'm', extra })).toEqual({
    HOME: '/other',
    ...fixed,
  });
});

it('the environment stays as it is without a proxy', () => {
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
] as const)('a child reaches 127.0.0.1 without the proxy: with %s', (_what, given, upper, lower) => {
  const env = { https_proxy: 'http://proxy:8080', ...given };
  expect(loopbackPastProxy(env)).toEqual({ ...env, NO_PROXY: upper, no_proxy: lower });
});
