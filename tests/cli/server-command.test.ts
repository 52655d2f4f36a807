import { describe, expect, it } from 'vitest';
import { npxServerCommand, serverCommandFor } from '../../src/clients/server-command.js';

describe('the command that Claude Desktop is given', () => {
  it('is npx for an installed package', () => {
    expect(
      serverCommandFor('/usr/lib/node_modules/claude-code-bridge/dist/main.js', '/usr/bin/node'),
    ).toEqual(npxServerCommand);
    expect(
      serverCommandFor(
        '/home/me/.npm/_npx/1a2b/node_modules/claude-code-bridge/dist/main.js',
        '/usr/bin/node',
      ),
    ).toEqual(npxServerCommand);
  });

  it('is the path of a checkout, with the Node that runs it', () => {
    expect(serverCommandFor('/home/me/claude-code-bridge/dist/main.js', '/usr/bin/node')).toEqual({
      command: '/usr/bin/node',
      args: ['/home/me/claude-code-bridge/dist/main.js'],
    });
  });
});
