import { expect, it } from 'vitest';
import { containerEnvironment } from '../../../src/processes/docker/container-options.js';

it('takes along credentials and what the user lets through, and no place of this machine', () => {
  const env = containerEnvironment(
    {
      HOME: '/home/me',
      PATH: '/home/me/bin:/usr/bin',
      XDG_RUNTIME_DIR: '/run/user/1000',
      SSH_AUTH_SOCK: '/run/agent',
      CLAUDE_CONFIG_DIR: '/home/me/.claude',
      NODE_EXTRA_CA_CERTS: '/home/me/ca.pem',
      ANTHROPIC_API_KEY: 'key',
      CLAUDE_CODE_OAUTH_TOKEN: 'token',
      HTTPS_PROXY: 'http://proxy:1',
      GOFLAGS: '-mod=mod',
      TERM: 'xterm-256color',
    },
    '/state/home',
  );
  expect(env).toEqual({
    HOME: '/state/home',
    IS_SANDBOX: '1',
    ANTHROPIC_API_KEY: 'key',
    CLAUDE_CODE_OAUTH_TOKEN: 'token',
    HTTPS_PROXY: 'http://proxy:1',
    GOFLAGS: '-mod=mod',
    TERM: 'xterm-256color',
  });
});
