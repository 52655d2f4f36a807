import type { Clock } from '../../../src/base/clock.js';
import type { Logger } from '../../../src/base/logger.js';
import type { EditorRequestOf } from '../../../src/editor/protocol.js';
import type { Editor } from '../editor.js';
import { EditorError } from '../editor-error.js';
import { BridgeTerminal, type TerminalFacts } from './bridge-terminal.js';
import { chosenShell, requireFolder, type ChosenShell } from './chosen-shell.js';
import { loadPty } from './load-pty.js';
import { hasIntegration, Marks, promptShell } from './posix-shells.js';
import { PseudoBackend } from './pseudo-backend.js';
import { ShellBackend } from './shell-backend.js';

export type CreateRequest = EditorRequestOf<'create_terminal'>;

export interface MakerOptions {
  readonly editor: Editor;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the extension's process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly integrationLimitMs?: number;
}

export interface MadeTerminal {
  readonly terminal: BridgeTerminal;
  readonly note: string | undefined;
}

interface Plan {
  readonly request: CreateRequest;
  readonly shell: ChosenShell;
  readonly cwd: string | undefined;
  readonly name: string;
  readonly message: string;
  readonly facts: TerminalFacts;
}

const NO_INTEGRATION = 'Its shell reports nothing to the editor, so it is a terminal of the extension.';
const SWITCHED_OFF = 'Shell integration is switched off in the editor, so it is a terminal of the extension.';

/** Makes terminals as programs ask for them, with the name of the program in them. */
export class TerminalMaker {
  readonly #options: MakerOptions;

  constructor(options: MakerOptions) {
    this.#options = options;
  }

  /** Throws SHELL_NOT_FOUND, FOLDER_NOT_FOUND, NO_SHELL_INTEGRATION and NOT_SUPPORTED; nothing is left then. */
  async make(request: CreateRequest, client: string): Promise<MadeTerminal> {
    const plan = await this.#plan(request, client);
    const note = this.#whyPseudo(plan);
    if (note !== undefined)
      return { terminal: await this.#pseudo(plan), note: note === '' ? undefined : note };
    const { terminal, backend } = this.#shell(plan);
    try {
      await backend.ready();
      await backend.freshPrompt();
      return { terminal, note: undefined };
    } catch (error) {
      terminal.dispose();
      terminal.shown.dispose();
      const isSilent = error instanceof EditorError && error.code === 'NO_SHELL_INTEGRATION';
      if (!isSilent || request.kind === 'shell') throw error;
      this.#options.logger.info('A shell has not reported to the editor', { shell: plan.shell.path });
      return { terminal: await this.#pseudo(plan), note: NO_INTEGRATION };
    }
  }

  async #plan(request: CreateRequest, client: string): Promise<Plan> {
    const { editor, env, clock } = this.#options;
    const shell = await chosenShell(request.shell, editor, env['PATH'] ?? '');
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
        adopted: false,
      },
    };
  }

  /** Undefined for a terminal of the editor; an empty text where the program chose the other. */
  #whyPseudo({ request, shell }: Plan): string | undefined {
    if (request.kind === 'shell') return undefined;
    if (request.kind === 'pseudoterminal' || request.columns !== undefined || request.rows !== undefined)
      return '';
    if (!this.#options.editor.hasShellIntegration()) return SWITCHED_OFF;
    return hasIntegration(shell.path) ? undefined : NO_INTEGRATION;
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

  async #pseudo({ request, shell, cwd, name, message, facts }: Plan): Promise<BridgeTerminal> {
    const { editor, clock, homeDir } = this.#options;
    if (promptShell(shell.path, new Marks('')) === undefined) {
      throw new EditorError(
        'NO_SHELL_INTEGRATION',
        `${shell.path} reports nothing to the editor, and its prompt cannot either.`,
        'Use bash, zsh, fish, pwsh, or a shell like sh.',
      );
    }
    const { columns, rows } = request;
    const hasSize = columns !== undefined || rows !== undefined;
    const backend = new PseudoBackend({
      spawn: loadPty(editor.appRoot()),
      clock,
      shell: shell.path,
      cwd: cwd ?? homeDir,
      env: this.#environment(request.env ?? {}),
      size: hasSize ? { columns: columns ?? 80, rows: rows ?? 24 } : undefined,
      message,
    });
    const shown = editor.createPseudoterminal(name, backend);
    if (request.show !== false) shown.show(true);
    const terminal = new BridgeTerminal(facts, shown, backend, clock);
    try {
      await backend.ready();
    } catch (error) {
      terminal.dispose();
      shown.dispose();
      throw error;
    }
    return terminal;
  }

  #environment(changes: Readonly<Record<string, string | null>>): Record<string, string> {
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries({ ...this.#options.env, ...changes }))
      if (typeof value === 'string') env[name] = value;
    return env;
  }
}
