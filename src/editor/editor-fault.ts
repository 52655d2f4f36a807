import { BridgeError, type ErrorCode } from '../base/errors.js';
import { oneLine, someNames } from '../base/text.js';
import type { EditorWindow } from './discovery.js';
import type { EditorErrorCode, EditorMessageOf } from './protocol.js';

const MAX_WORDS_CHARS = 500;
const TRY_AGAIN =
  'It may be loading: call again in a few seconds. If it stays so, ask the user to run "Developer: Reload Window" in it.';
const TRUST =
  'Only the user can trust it, with "Workspaces: Manage Workspace Trust" in that window. Or use another tool.';
const OTHER_TERMINAL = 'list_terminals shows the terminals there are; create_terminal makes one.';

type WindowFacts = Pick<EditorWindow, 'folders'>;

/** How errors name a window: never by its port. */
export function windowName({ folders }: WindowFacts): string {
  return folders.length === 0
    ? 'The window of VS Code without a folder'
    : `The window of VS Code with ${someNames(folders)}`;
}

/** The error for a folder, or a terminal, when no window is open. */
export function noWindow(): BridgeError {
  return new BridgeError(
    'EDITOR_NOT_FOUND',
    'No window of VS Code with the extension Claude Terminal Bridge is open.',
    'Ask the user to open the project in VS Code, with that extension installed, connected, and of the version of the bridge. Or use another tool.',
  );
}

/** `what` completes the sentence: "does not answer". */
export function unreachable(window: WindowFacts, what: string, hint = TRY_AGAIN): BridgeError {
  return new BridgeError('EDITOR_UNREACHABLE', `${windowName(window)} ${what}.`, hint);
}

export function otherVersion(window: WindowFacts): BridgeError {
  return new BridgeError(
    'EDITOR_VERSION',
    `${windowName(window)} sent a message that this bridge does not understand.`,
    'Ask the user to install the extension Claude Terminal Bridge and the bridge in the same version.',
  );
}

export function untrusted(window: WindowFacts): BridgeError {
  return new BridgeError(
    'UNTRUSTED_WORKSPACE',
    `${windowName(window)} is not trusted by the user, so nothing is made or run in it.`,
    TRUST,
  );
}

interface Row {
  readonly code: ErrorCode;
  readonly hint: string;
}

/** What the extension's error means for a caller of a tool; any other is TERMINAL_FAILED. */
const rows: Readonly<Partial<Record<EditorErrorCode, Row>>> = {
  UNTRUSTED_WORKSPACE: { code: 'UNTRUSTED_WORKSPACE', hint: TRUST },
  TERMINAL_NOT_FOUND: { code: 'TERMINAL_NOT_FOUND', hint: OTHER_TERMINAL },
  TERMINAL_BUSY: {
    code: 'TERMINAL_BUSY',
    hint: 'read_terminal with wait_seconds waits for its end. Or use another terminal: create_terminal.',
  },
  TERMINAL_CLOSED: { code: 'TERMINAL_CLOSED', hint: OTHER_TERMINAL },
  NO_SHELL_INTEGRATION: {
    code: 'NO_SHELL_INTEGRATION',
    hint: 'Call create_terminal with another shell, such as bash, zsh, fish or pwsh.',
  },
  SHELL_NOT_FOUND: {
    code: 'PROGRAM_NOT_FOUND',
    hint: 'Leave out shell, or give the name of a terminal profile of VS Code or the path of a program.',
  },
  FOLDER_NOT_FOUND: { code: 'PATH_NOT_FOUND', hint: 'Give a folder that exists.' },
  NO_TOKEN: { code: 'EDITOR_UNREACHABLE', hint: TRY_AGAIN },
  INVALID_MESSAGE: { code: 'INVALID_ARGUMENTS', hint: 'Correct the arguments and call again.' },
};

/** The extension's error as one of a tool. Its own hints are for programs that speak with it. */
export function editorFault({ code, error, hint }: EditorMessageOf<'error'>): BridgeError {
  const row = rows[code];
  const words = oneLine(error, MAX_WORDS_CHARS);
  if (row !== undefined) return new BridgeError(row.code, words, row.hint);
  return new BridgeError('TERMINAL_FAILED', words, oneLine(hint, MAX_WORDS_CHARS));
}

export function terminalClosed({ by, exitCode }: EditorMessageOf<'terminal_closed'>): BridgeError {
  const why = {
    person: 'The user closed the terminal.',
    program: 'A program closed the terminal.',
    shell: `The shell of the terminal has ended${exitCode === null ? '' : ` with exit code ${exitCode}`}.`,
    editor: 'VS Code closed the terminal.',
  }[by];
  return new BridgeError('TERMINAL_CLOSED', why, OTHER_TERMINAL);
}
