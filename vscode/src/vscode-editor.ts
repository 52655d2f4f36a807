import * as vscode from 'vscode';
import { z } from 'zod';
import type { Editor, ShellTerminalOptions, TerminalProfile } from './editor.js';

/** Of `terminal.integrated.profiles.<platform>`. */
const profileSchema = z.object({
  path: z.union([z.string(), z.array(z.string()).min(1)]),
  args: z.union([z.string(), z.array(z.string())]).optional(),
});
const PLATFORMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'osx', win32: 'windows' };

/** The real editor. */
export function vscodeEditor(): Editor {
  const { window, workspace } = vscode;
  return {
    onDidCloseTerminal: (listener) => window.onDidCloseTerminal(listener),
    onDidChangeShellIntegration: (listener) =>
      window.onDidChangeTerminalShellIntegration(({ terminal }) => listener(terminal)),
    onDidStartExecution: (listener) => window.onDidStartTerminalShellExecution(listener),
    onDidEndExecution: (listener) => window.onDidEndTerminalShellExecution(listener),
    createTerminal: (options) => window.createTerminal(terminalOptions(options)),
    isTrusted: () => workspace.isTrusted,
    folders: () =>
      (workspace.workspaceFolders ?? []).flatMap(({ uri }) => (uri.scheme === 'file' ? [uri.fsPath] : [])),
    // Not known yet in a window that has just opened.
    defaultShell: () => vscode.env.shell || process.env['SHELL'] || '/bin/sh',
    profile: profileOf,
    hasShellIntegration: () =>
      workspace.getConfiguration('terminal.integrated').get<boolean>('shellIntegration.enabled', true),
  };
}

function terminalOptions(options: ShellTerminalOptions): vscode.TerminalOptions {
  const { name, shellPath, shellArgs, cwd, env, message } = options;
  return {
    name,
    message,
    iconPath: new vscode.ThemeIcon('plug'),
    ...(shellPath === undefined ? {} : { shellPath }),
    ...(shellArgs === undefined || shellArgs.length === 0 ? {} : { shellArgs: [...shellArgs] }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...env } }),
  };
}

function profileOf(name: string): TerminalProfile | undefined {
  const platform = PLATFORMS[process.platform] ?? 'linux';
  const profiles = vscode.workspace
    .getConfiguration('terminal.integrated')
    .get<Record<string, unknown>>(`profiles.${platform}`, {});
  const found = profileSchema.safeParse(Object.hasOwn(profiles, name) ? profiles[name] : undefined);
  if (!found.success) return undefined;
  const path = typeof found.data.path === 'string' ? found.data.path : (found.data.path[0] ?? '');
  // A bare name, or one with variables, is looked up as a program.
  if (!path.startsWith('/') || path.includes('${')) return undefined;
  const { args = [] } = found.data;
  return { path, args: typeof args === 'string' ? [args] : args };
}
