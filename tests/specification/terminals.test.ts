// The specification of terminals in an editor. It is not built yet; each sentence becomes a test with it.
import { describe, test } from 'vitest';

describe('the messages of the extension', () => {
  test.todo('ping is answered with pong and its id');
  test.todo(
    'create_terminal opens a terminal and answers terminal_created with terminalId, its own id, and terminalName',
  );
  test.todo('execute with a terminalId types the command into that terminal and answers success');
  test.todo('execute without a terminalId says in which terminal it ran');
  test.todo('execute gives the output of the command and its exit code');
  test.todo('close_terminal closes the terminal and answers success');
  test.todo('a terminalId that is unknown or closed is answered with error and words');
  test.todo('an unknown type and broken JSON are answered with error, and the connection stays');
  test.todo('two clients are each answered with the ids of their own requests');
  test.todo('a client without the token, or from a foreign origin, is refused');
});

describe('the settings of the extension', () => {
  test.todo('claudeTerminalBridge.mcpServerUrl sets the port, ws://localhost:3000 by default');
  test.todo('claudeTerminalBridge.autoConnect starts the server with the editor, unless it is false');
  test.todo('claudeTerminalBridge.silentAutoConnect hides that the port is taken, unless it is false');
});

describe('the editor', () => {
  test.todo('has the commands Connect to MCP Server, Disconnect from MCP Server and Show Connection Status');
  test.todo('shows MCP Connected or MCP Disconnected in the status bar');
  test.todo('has each message with its time in the output channel Claude Terminal Bridge');
  test.todo('forgets a terminal that a person closed');
  test.todo('finds its terminals again after a reload of the window');
});
