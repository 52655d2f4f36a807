import type { Clock } from '../../../src/base/clock.js';
import type { Logger } from '../../../src/base/logger.js';
import type { EditorRequestOf } from '../../../src/editor/protocol.js';
import type { Editor } from '../editor.js';
import { BridgeTerminal, type TerminalFacts } from './bridge-terminal.js';
import { chosenShell, requireFolder, type ChosenShell } from './chosen-shell.js';
import { noIntegration, ShellBackend } from './shell-backend.js';

export type CreateRequest = EditorRequestOf<'create_terminal'>;

export interface MakerOptions {
  readonly editor: Editor;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where a shell is looked for. */
  readonly searchPath: string;
  readonly integrationLimitMs?: number;
}

interface Plan {
  readonly request: CreateRequest;
  readonly shell: ChosenShell;
  readonly cwd: string | undefined;
  readonly name: string;
  readonly message: string;
  readonly facts: TerminalFacts;
}

/** Makes terminals as programs ask for them, with the name of the program in them. */
export class TerminalMaker {
  readonly #options: MakerOptions;

  constructor(options: MakerOptions) {
    this.#options = options;
  }

  /** Throws SHELL_NOT_FOUND, FOLDER_NOT_FOUND and NO_SHELL_INTEGRATION; nothing is left then. */
  async make(request: CreateRequest, client: string): Promise<BridgeTerminal> {
    const plan = await this.#plan(request, client);
    if (!this.#options.editor.hasShellIntegration())
      throw noIntegration('Shell integration is switched off in the editor.');
    const { terminal, backend } = this.#shell(plan);
    try {
      await backend.ready();
      await backend.freshPrompt();
      return terminal;
    } catch (error) {
      terminal.dispose();
      terminal.shown.dispose();
      throw error;
    }
  }

  async #plan(request: CreateRequest, client: string): Promise<Plan> {
    const { editor, searchPath, clock } = this.#options;
    const shell = await chosenShell(request.shell, editor, searchPath);
    const cwd = request.cwd ?? editor.folders()[0];
    if (cwd !== undefined) await requireFolder(cwd);
    const name = `${request.name ?? 'Terminal'} (${client})`;
    return {
      request,
      shell,
      cwd,
      name,
      message: `Made by ${client} through Claude Terminal Bridge. Close it to take it away.`,
      facts: {
        terminalId: request.id,
        createdBy: client,
        createdAt: new Date(clock.now()).toISOString(),
        cwd,
      },
    };
  }

  #shell({ request, shell, cwd, name, message, facts }: Plan): {
    readonly terminal: BridgeTerminal;
    readonly backend: ShellBackend;
  } {
    const { editor, clock, logger, integrationLimitMs } = this.#options;
    const shown = editor.createTerminal({
      name,
      cwd,
      message,
      env: request.env,
      ...(shell.isDefault ? {} : { shellPath: shell.path, shellArgs: shell.args }),
    });
    const backend = new ShellBackend({
      editor,
      terminal: shown,
      shell: shell.path,
      clock,
      logger,
      ...(integrationLimitMs === undefined ? {} : { integrationLimitMs }),
    });
    if (request.show !== false) shown.show(true);
    return { terminal: new BridgeTerminal(facts, shown, backend, clock), backend };
  }
}
