// Pure.
/** How a chat client starts the server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** The name of the server in the settings of a client. */
export const SERVER_NAME = 'claude-code-bridge';
