import { Emitter } from '../../src/base/lifecycle.js';
import type {
  Editor,
  ExecutionEvent,
  ShellExecution,
  ShellTerminalOptions,
  ShownTerminal,
  TerminalProfile,
} from '../../vscode/src/editor.js';

let pids = 1_000;

/** A command of a fake terminal: the test says what it prints, and when it begins and ends. */
export class FakeExecution implements ShellExecution {
  readonly commandLine: { readonly value: string };
  readonly #pieces: string[] = [];
  #wake: () => void = () => undefined;
  #isOver = false;

  constructor(line: string) {
    this.commandLine = { value: line };
  }

  print(text: string): void {
    this.#pieces.push(text);
    this.#wake();
  }

  over(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *read(): AsyncGenerator<string> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) yield piece;
      else if (this.#isOver) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

export class FakeTerminal implements ShownTerminal {
  readonly name: string;
  readonly options: ShellTerminalOptions | undefined;
  readonly processId: Promise<number | undefined> = Promise.resolve(++pids);
  readonly typed: string[] = [];
  emptyLines = 0;
  readonly executions: FakeExecution[] = [];
  readonly #editor: FakeEditor;
  shellIntegration: ShownTerminal['shellIntegration'];
  exitStatus: ShownTerminal['exitStatus'];

  constructor(editor: FakeEditor, name: string, options?: ShellTerminalOptions) {
    this.#editor = editor;
    this.name = name;
    this.options = options;
  }

  /** Its shell reports to the editor from now on. */
  integrate(): void {
    this.shellIntegration = {
      executeCommand: (line) => {
        const execution = new FakeExecution(line);
        this.executions.push(execution);
        return execution;
      },
    };
    this.#editor.integrated.fire(this);
  }

  begin(execution: FakeExecution): void {
    this.#editor.started.fire({ terminal: this, execution });
  }

  end(execution: FakeExecution, exitCode: number | undefined): void {
    execution.over();
    this.#editor.ended.fire({ terminal: this, execution, exitCode });
  }

  /** An empty line is a command that ends at once. */
  sendText(text: string, addNewLine: boolean): void {
    if (text !== '' || !addNewLine) return void this.typed.push(text);
    this.emptyLines++;
    if (!this.#editor.answersEmptyLines) return;
    const execution = new FakeExecution('');
    this.begin(execution);
    this.end(execution, undefined);
  }

  show(): void {
    // Nobody sees it.
  }

  dispose(): void {
    this.closeAs(4);
  }

  /** As the editor reports it: 2 is the shell, 3 the person, 4 an extension. */
  closeAs(reason: number, code?: number): void {
    if (this.exitStatus !== undefined) return;
    this.exitStatus = { code, reason };
    this.#editor.closed.fire(this);
  }
}

/** The editor as far as the extension needs it, with all that happens in the hands of the test. */
export class FakeEditor implements Editor {
  readonly opened = new Emitter<ShownTerminal>();
  readonly closed = new Emitter<ShownTerminal>();
  readonly integrated = new Emitter<ShownTerminal>();
  readonly started = new Emitter<ExecutionEvent>();
  readonly ended = new Emitter<ExecutionEvent & { readonly exitCode: number | undefined }>();
  readonly onDidOpenTerminal = this.opened.event;
  readonly onDidCloseTerminal = this.closed.event;
  readonly onDidChangeShellIntegration = this.integrated.event;
  readonly onDidStartExecution = this.started.event;
  readonly onDidEndExecution = this.ended.event;
  readonly made: FakeTerminal[] = [];
  readonly profiles = new Map<string, TerminalProfile>();
  trusted = true;
  shell = '/bin/bash';
  /** Whether a new terminal's shell reports to the editor. */
  integrates = true;
  answersEmptyLines = true;
  isSwitchedOn = true;

  terminals(): readonly ShownTerminal[] {
    return this.made;
  }

  createTerminal(options: ShellTerminalOptions): FakeTerminal {
    const terminal = new FakeTerminal(this, options.name, options);
    this.made.push(terminal);
    if (this.integrates) terminal.integrate();
    return terminal;
  }

  isTrusted(): boolean {
    return this.trusted;
  }

  folders(): readonly string[] {
    return ['/'];
  }

  defaultShell(): string {
    return this.shell;
  }

  profile(name: string): TerminalProfile | undefined {
    return this.profiles.get(name);
  }

  hasShellIntegration(): boolean {
    return this.isSwitchedOn;
  }
}
