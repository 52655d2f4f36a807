import { join } from 'node:path';
import { z } from 'zod';
import { parseSettingsText } from '../../config/settings-text.js';
import { editJson } from '../../config/jsonc-edit.js';

/** How a chat client starts the server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export const SERVER_NAME = 'claude-code-bridge';
export const npxServerCommand: ServerCommand = { command: 'npx', args: ['-y', 'claude-code-bridge'] };

/**
 * How the server at `entry` is started again: an installed package by its name, so that it can be upgraded; a
 * checkout by its path.
 */
export function serverCommandFor(entry: string, node: string): ServerCommand {
  return /[\\/]node_modules[\\/]/.test(entry) ? npxServerCommand : { command: node, args: [entry] };
}

export type DesktopSettings =
  | { readonly kind: 'usable'; /** The existing entry, if there is one. */ readonly entry: unknown }
  | { readonly kind: 'broken'; readonly why: string };

const serversSchema = z.record(z.string(), z.unknown());

/** Where Claude Desktop keeps its settings, or undefined where there is no Claude Desktop. */
export function claudeDesktopSettingsPath(platform: NodeJS.Platform, homeDir: string): string | undefined {
  if (platform === 'darwin') {
    return join(homeDir, 'Library', 'Application Support', 'Claude', 'claude_desktop_config.json');
  }
  if (platform === 'linux') return join(homeDir, '.config', 'Claude', 'claude_desktop_config.json');
  return undefined;
}

/** What Claude Desktop's settings say of this server. Pure; an empty text is an empty object. */
export function readDesktopSettings(text: string): DesktopSettings {
  if (text.trim() === '') return { kind: 'usable', entry: undefined };
  const parsed = parseSettingsText(text);
  if (parsed.kind === 'errors') {
    return {
      kind: 'broken',
      why: parsed.errors.map(({ line, words }) => `line ${line}: ${words}`).join('; '),
    };
  }
  const found = parsed.entries.find((entry) => entry.key === 'mcpServers');
  if (found === undefined) return { kind: 'usable', entry: undefined };
  const servers = serversSchema.safeParse(found.value);
  if (!servers.success) {
    return { kind: 'broken', why: `line ${found.line}: mcpServers: expected an object of servers` };
  }
  return {
    kind: 'usable',
    entry: Object.hasOwn(servers.data, SERVER_NAME) ? servers.data[SERVER_NAME] : undefined,
  };
}

/** The settings with this server's entry added or replaced; nothing else changes. */
export function withServerEntry(text: string, command: ServerCommand): string {
  const value = { command: command.command, args: [...command.args] };
  return editJson(text, [{ path: ['mcpServers', SERVER_NAME], value }]);
}

/** True when the entry already says exactly this and nothing more. */
export function isServerEntry(entry: unknown, { command, args }: ServerCommand): boolean {
  const parsed = z.strictObject({ command: z.string(), args: z.array(z.string()) }).safeParse(entry);
  return (
    parsed.success &&
    parsed.data.command === command &&
    parsed.data.args.length === args.length &&
    parsed.data.args.every((arg, index) => arg === args[index])
  );
}
