import { Readable } from 'node:stream';
import { Emitter } from '../../src/base/lifecycle.js';
import type {
  Editor,
  ExecutionEvent,
  ShellExecution,
  ShellTerminalOptions,
  ShownTerminal,
} from '../../vscode/src/editor.js';

/** A command of a fake terminal, which prints nothing: the test says when it begins and ends. */
function fakeExecution(value: string): ShellExecution {
  return { commandLine: { value }, read: () => Readable.from([]) };
}

export class FakeTerminal implements ShownTerminal {
  readonly name: string;
  readonly options: ShellTerminalOptions;
  readonly processId: Promise<number | undefined> = Promise.resolve(1_000);
  readonly executions: ShellExecution[] = [];
  readonly shellIntegration = {
    executeCommand: (line: string): ShellExecution => {
      const execution = fakeExecution(line);
      this.executions.push(execution);
      return execution;
    },
  };
  readonly #editor: FakeEditor;
  exitStatus: ShownTerminal['exitStatus'];

  constructor(editor: FakeEditor, options: ShellTerminalOptions) {
    this.#editor = editor;
    this.name = options.name;
    this.options = options;
  }

  begin(execution: ShellExecution): void {
    this.#editor.started.fire({ terminal: this, execution });
  }

  end(execution: ShellExecution, exitCode: number | undefined): void {
    this.#editor.ended.fire({ terminal: this, execution, exitCode });
  }

  /** An empty line is a command that ends at once. */
  sendText(): void {
    const execution = fakeExecution('');
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
  closeAs(reason: number): void {
    this.exitStatus = { code: undefined, reason };
    this.#editor.closed.fire(this);
  }
}

/** The editor as far as the extension needs it, with all that happens in the hands of the test. */
export class FakeEditor implements Editor {
  readonly closed = new Emitter<ShownTerminal>();
  readonly started = new Emitter<ExecutionEvent>();
  readonly ended = new Emitter<ExecutionEvent & { readonly exitCode: number | undefined }>();
  readonly onDidOpenTerminal = new Emitter<ShownTerminal>().event;
  readonly onDidCloseTerminal = this.closed.event;
  readonly onDidChangeShellIntegration = new Emitter<ShownTerminal>().event;
  readonly onDidStartExecution = this.started.event;
  readonly onDidEndExecution = this.ended.event;
  readonly made: FakeTerminal[] = [];
  trusted = true;

  terminals(): readonly ShownTerminal[] {
    return this.made;
  }

  createTerminal(options: ShellTerminalOptions): FakeTerminal {
    const terminal = new FakeTerminal(this, options);
    this.made.push(terminal);
    return terminal;
  }

  isTrusted(): boolean {
    return this.trusted;
  }

  folders(): readonly string[] {
    return ['/'];
  }

  defaultShell(): string {
    return '/bin/bash';
  }

  profile(): undefined {
    return undefined;
  }

  hasShellIntegration(): boolean {
    return true;
  }
}
