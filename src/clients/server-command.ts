// Pure.
/** How a chat client starts the server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** The name of the server in the settings of a client. */
export const SERVER_NAME = 'claude-code-bridge';
export const npxServerCommand: ServerCommand = { command: 'npx', args: ['-y', 'claude-code-bridge'] };

/**
 * How the server at `entry` is started again: an installed package by its name, so that it can be upgraded; a
 * checkout by its path.
 */
export function serverCommandFor(entry: string, node: string): ServerCommand {
  return /[\\/]node_modules[\\/]/.test(entry) ? npxServerCommand : { command: node, args: [entry] };
}
