import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import {
  claudeDesktopSettingsPath,
  isServerEntry,
  readDesktopSettings,
  SERVER_NAME,
  withServerEntry,
  type ServerCommand,
} from './claude-desktop-settings.js';
import type { InitIo } from './init-io.js';
import { leftAsItIs, readSettings, writeSettings } from '../../config/settings-on-disk.js';

export interface DesktopRequest {
  readonly io: InitIo;
  readonly homeDir: string;
  readonly platform: NodeJS.Platform;
  readonly serverCommand: ServerCommand;
  readonly claudeDesktop?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** What is to become of Claude Desktop's settings. */
export type DesktopPlan =
  | { readonly kind: 'write'; readonly path: string }
  | { readonly kind: 'keep' }
  | { readonly kind: 'cancelled' };

/** Learns from the flags or by asking whether to add the entry; writes nothing. Throws CONFIG_ERROR for a broken file, INVALID_ARGUMENTS for flags. */
export async function planDesktop(request: DesktopRequest): Promise<DesktopPlan> {
  const { io, homeDir, platform, serverCommand } = request;
  const path = claudeDesktopSettingsPath(platform, homeDir);
  if (path === undefined) {
    if (request.claudeDesktop !== true) return { kind: 'keep' };
    const message = `--claude-desktop: Claude Desktop is not available for ${platform}.`;
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Omit --claude-desktop. Nothing was written.');
  }
  if (request.claudeDesktop !== true) {
    if (request.yes === true || io.questions === undefined) return { kind: 'keep' };
    // Claude Desktop makes the folder; where there is none, it is not installed.
    if (!(await isFolder(dirname(path)))) return { kind: 'keep' };
    const wanted = await io.questions.confirm(
      `Add ${SERVER_NAME} to Claude Desktop's settings (${path})?`,
      true,
    );
    if (wanted === undefined) return { kind: 'cancelled' };
    if (!wanted) return { kind: 'keep' };
  }
  const entry = entryIn(path, (await readSettings(path)).text);
  if (entry === undefined || isServerEntry(entry, serverCommand)) return { kind: 'write', path };
  io.write(`${path} already holds:\n${JSON.stringify({ [SERVER_NAME]: entry }, null, 2)}`);
  if (request.yes === true) return { kind: 'write', path };
  if (io.questions === undefined) {
    const message = `${path} already has another entry for ${SERVER_NAME}, and there is no terminal to ask in.`;
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Pass --yes to replace it. Nothing was written.');
  }
  const replace = await io.questions.confirm('Replace that entry?', false);
  if (replace === undefined) return { kind: 'cancelled' };
  return replace ? { kind: 'write', path } : { kind: 'keep' };
}

/** Adds or replaces the entry; the old settings are saved in a copy that ends in `.bak`. */
export async function writeDesktop({ io, serverCommand }: DesktopRequest, path: string): Promise<void> {
  const { text, mode } = await readSettings(path);
  if (isServerEntry(entryIn(path, text), serverCommand)) {
    io.write(`${path} already holds the entry for ${SERVER_NAME}.`);
    return;
  }
  if (mode !== undefined) {
    await writeSettings(`${path}.bak`, text, mode);
    io.write(`Kept the old settings in ${path}.bak`);
  }
  await writeSettings(path, withServerEntry(text, serverCommand), mode);
  io.write(`Added ${SERVER_NAME} to ${path}. Restart Claude Desktop to use it.`);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}

function entryIn(path: string, text: string): unknown {
  const settings = readDesktopSettings(text);
  if (settings.kind === 'usable') return settings.entry;
  throw leftAsItIs(`${path}: ${settings.why}`);
}
