import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { z } from 'zod';
import { messageOf } from '../../src/base/errors.js';
import { DisposableStore } from '../../src/base/lifecycle.js';
import type { Logger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/system-clock.js';
import { oneLine } from '../../src/base/text.js';
import { tasksInEditor } from './tasks-in-editor.js';
import { terminalsForPrograms } from './terminals-for-programs.js';
import type { FeatureContext } from './feature.js';
import { vscodeEditor } from './vscode-editor.js';

const MAX_LINE_CHARS = 2_000;
const manifest = z.object({ version: z.string() });
const owned = new DisposableStore();

export function activate(extension: vscode.ExtensionContext): void {
  const channel = owned.add(vscode.window.createOutputChannel('Claude Terminal Bridge'));
  const context: FeatureContext = {
    extension,
    editor: vscodeEditor(),
    clock: systemClock,
    logger: outputLog(channel),
    version: manifest.parse(extension.extension.packageJSON).version,
    env: process.env,
    homeDir: homedir(),
    showLog: () => channel.show(true),
  };
  owned.add(terminalsForPrograms(context));
  owned.add(tasksInEditor(context));
}

export function deactivate(): void {
  owned.dispose();
}

/** Writes lines with their time into the output channel. */
function outputLog(channel: vscode.OutputChannel): Logger {
  const at =
    (level: string) =>
    (message: string, fields?: Readonly<Record<string, unknown>>): void => {
      const more = fields === undefined ? '' : ` ${JSON.stringify(fields, errorAsText)}`;
      channel.appendLine(
        `[${new Date().toISOString()}] ${level}${oneLine(`${message}${more}`, MAX_LINE_CHARS)}`,
      );
    };
  return { debug: at(''), info: at(''), warn: at('Warning: '), error: at('Error: ') };
}

function errorAsText(_key: string, value: unknown): unknown {
  return value instanceof Error ? messageOf(value) : value;
}
