import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { z } from 'zod';
import { systemClock } from '../../src/base/system-clock.js';
import { DisposableStore } from '../../src/base/lifecycle.js';
import { tasksInEditor } from './tasks-in-editor.js';
import { terminalsForPrograms } from './terminals-for-programs.js';
import type { Feature, FeatureContext } from './feature.js';
import { outputLog } from './output-log.js';
import { vscodeEditor } from './vscode-editor.js';

/** All parts of the extension. */
const features: readonly Feature[] = [terminalsForPrograms, tasksInEditor];

const manifest = z.object({ version: z.string() });
const owned = new DisposableStore();

export function activate(extension: vscode.ExtensionContext): void {
  const channel = owned.add(vscode.window.createOutputChannel('Claude Terminal Bridge'));
  const context: FeatureContext = {
    extension,
    editor: vscodeEditor(),
    clock: systemClock,
    logger: outputLog((line) => channel.appendLine(line), systemClock),
    version: manifest.parse(extension.extension.packageJSON).version,
    env: process.env,
    homeDir: homedir(),
    showLog: () => channel.show(true),
  };
  for (const feature of features) owned.add(feature(context));
}

export function deactivate(): void {
  owned.dispose();
}
