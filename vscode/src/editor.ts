// Pure.
import type { Disposable } from '../../src/base/lifecycle.js';

/** Subscribes a listener, as events of the editor do. */
export type EditorEvent<T> = (listener: (value: T) => void) => Disposable;

/** A command in a terminal with shell integration. */
export interface ShellExecution {
  readonly commandLine: { readonly value: string };
  /** The output from its start on; to be called at once. */
  read(): AsyncIterable<string>;
}

export interface ShellIntegration {
  executeCommand(line: string): ShellExecution;
}

/** A terminal of the editor. */
export interface ShownTerminal {
  readonly name: string;
  readonly processId: PromiseLike<number | undefined>;
  readonly shellIntegration?: ShellIntegration | undefined;
  /** `reason` 3 is the person's doing, as `TerminalExitReason.User`. */
  readonly exitStatus?: { readonly code: number | undefined; readonly reason: number } | undefined;
  sendText(text: string, addNewLine: boolean): void;
  show(preserveFocus: boolean): void;
  dispose(): void;
}

export interface ShellTerminalOptions {
  readonly name: string;
  readonly shellPath?: string | undefined;
  readonly shellArgs?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** The first line that the person sees in it. */
  readonly message: string;
}

export interface TerminalProfile {
  readonly path: string;
  readonly args: readonly string[];
}

export interface ExecutionEvent {
  readonly terminal: ShownTerminal;
  readonly execution: ShellExecution;
}

/** What the extension needs of the editor. */
export interface Editor {
  readonly onDidCloseTerminal: EditorEvent<ShownTerminal>;
  readonly onDidChangeShellIntegration: EditorEvent<ShownTerminal>;
  readonly onDidStartExecution: EditorEvent<ExecutionEvent>;
  readonly onDidEndExecution: EditorEvent<ExecutionEvent & { readonly exitCode: number | undefined }>;
  createTerminal(options: ShellTerminalOptions): ShownTerminal;
  isTrusted(): boolean;
  /** Absolute paths of the workspace's folders on this machine. */
  folders(): readonly string[];
  /** The shell of the person. */
  defaultShell(): string;
  /** A profile of the settings, by its name. */
  profile(name: string): TerminalProfile | undefined;
  hasShellIntegration(): boolean;
}
