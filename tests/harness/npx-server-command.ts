import type { ServerCommand } from '../../src/clients/server-command.js';

export const npxServerCommand: ServerCommand = { command: 'npx', args: ['-y', 'claude-code-bridge'] };
