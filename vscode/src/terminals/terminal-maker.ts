import type { Clock } from '../../../src/base/clock.js';
import type { Logger } from '../../../src/base/logger.js';
import type { EditorRequestOf } from '../../../src/editor/protocol.js';
import type { Editor } from '../editor.js';
import { BridgeTerminal } from './bridge-terminal.js';
import { chosenShell, requireFolder } from './chosen-shell.js';
import { noIntegration, ShellBackend } from './shell-backend.js';

export type CreateRequest = EditorRequestOf<'create_terminal'>;

export interface MakerOptions {
  readonly editor: Editor;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where a shell is looked for. */
  readonly searchPath: string;
}

/** Makes terminals as programs ask for them, with the name of the program in them. */
export class TerminalMaker {
  readonly #options: MakerOptions;

  constructor(options: MakerOptions) {
    this.#options = options;
  }

  /** Throws SHELL_NOT_FOUND, FOLDER_NOT_FOUND and NO_SHELL_INTEGRATION; nothing is left then. */
  async make(request: CreateRequest, client: string): Promise<BridgeTerminal> {
    const { editor, searchPath, clock, logger } = this.#options;
    const shell = await chosenShell(request.shell, editor, searchPath);
    const cwd = request.cwd ?? editor.folders()[0];
    if (cwd !== undefined) await requireFolder(cwd);
    if (!editor.hasShellIntegration())
      throw noIntegration('Shell integration is switched off in the editor.');
    const shown = editor.createTerminal({
      name: `${request.name ?? 'Terminal'} (${client})`,
      cwd,
      message: `Made by ${client} through Claude Terminal Bridge. Close it to take it away.`,
      env: request.env,
      ...(shell.isDefault ? {} : { shellPath: shell.path, shellArgs: shell.args }),
    });
    if (request.show !== false) shown.show(true);
    const backend = new ShellBackend({ editor, terminal: shown, shell: shell.path, clock, logger });
    const createdAt = new Date(clock.now()).toISOString();
    const facts = { terminalId: request.id, createdBy: client, createdAt, cwd };
    const terminal = new BridgeTerminal(facts, shown, backend, clock);
    try {
      await backend.ready();
      await backend.freshPrompt();
      return terminal;
    } catch (error) {
      terminal.dispose();
      shown.dispose();
      throw error;
    }
  }
}
