// Pure.
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { stateDirectory } from '../../src/config/places.js';

/** Of `claudeTerminalBridge`. */
export interface Settings {
  /** Of `mcpServerUrl`; undefined for any free one. */
  readonly port: number | undefined;
  readonly autoConnect: boolean;
  readonly silentAutoConnect: boolean;
  readonly allowWithoutToken: boolean;
  /** Absolute. */
  readonly statePath: string;
  /** Whether this window connects to the board. */
  readonly showTasks: boolean;
  /** Of which tasks a person is asked: of this workspace, all, or none. */
  readonly taskNotifications: TaskNotifications;
  /** Program and first arguments of `claude-code-bridge`; empty to look for it. */
  readonly bridgeCommand: readonly string[];
}

export const taskNotifications = ['workspace', 'all', 'off'] as const;
export type TaskNotifications = (typeof taskNotifications)[number];

export interface SettingsSource {
  get<T>(name: string, fallback: T): T;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'ws:': 80, 'wss:': 443 };

/** Reads the settings. Throws an error with what is wrong in them. */
export function readSettings(
  source: SettingsSource,
  context: { readonly env: NodeJS.ProcessEnv; readonly homeDir: string },
): Settings {
  return {
    port: portOf(source.get('mcpServerUrl', 'ws://localhost:3000')),
    autoConnect: source.get('autoConnect', true),
    silentAutoConnect: source.get('silentAutoConnect', true),
    allowWithoutToken: source.get('allowWithoutToken', false),
    statePath: statePathOf(source.get('stateDir', ''), context),
    showTasks: source.get('showTasks', true),
    taskNotifications: notificationsOf(source.get<unknown>('taskNotifications', 'workspace')),
    bridgeCommand: commandOf(source.get<unknown>('bridgeCommand', [])),
  };
}

function notificationsOf(value: unknown): TaskNotifications {
  const known = z.enum(taskNotifications).safeParse(value);
  if (known.success) return known.data;
  throw new Error(
    `claudeTerminalBridge.taskNotifications is none of ${taskNotifications.join(', ')}: ${String(value)}`,
  );
}

function commandOf(value: unknown): readonly string[] {
  const known = z.array(z.string().min(1)).safeParse(value);
  if (known.success) return known.data;
  throw new Error(
    'claudeTerminalBridge.bridgeCommand is not a list of texts, such as ["node", "/home/me/bridge/dist/main.js"].',
  );
}

/** Only the port of the address is used: this is the server. */
function portOf(url: string): number | undefined {
  if (url === '') return undefined;
  if (!URL.canParse(url))
    throw new Error(
      `claudeTerminalBridge.mcpServerUrl is not an address such as ws://localhost:3000: ${url}`,
    );
  const { protocol, port } = new URL(url);
  const known = port === '' ? DEFAULT_PORTS[protocol] : Number(port);
  if (known === undefined)
    throw new Error(`claudeTerminalBridge.mcpServerUrl does not begin with ws:// and have a port: ${url}`);
  return known === 0 ? undefined : known;
}

/** As the bridge itself finds it. */
function statePathOf(
  setting: string,
  { env, homeDir }: { readonly env: NodeJS.ProcessEnv; readonly homeDir: string },
): string {
  const chosen = setting === '' ? (env['MCP_STATE_DIR'] ?? '') : setting;
  if (chosen === '') return stateDirectory({ state_dir: null }, { env, homeDir });
  const path = chosen === '~' || chosen.startsWith('~/') ? join(homeDir, chosen.slice(1)) : chosen;
  if (!isAbsolute(path)) throw new Error(`The state directory is not an absolute path: ${path}`);
  return path;
}
