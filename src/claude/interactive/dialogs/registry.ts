// Pure.
import type { Menu } from '../menu.js';
import { apiKey } from './api-key.js';
import { bypassWarning } from './bypass-warning.js';
import type { Dialog, DialogReading } from './dialog.js';
import { externalImports } from './external-imports.js';
import { limitOptions } from './limit-options.js';
import { planReady } from './plan-ready.js';
import { projectMcpServer } from './project-mcp-server.js';
import { projectMcpServers } from './project-mcp-servers.js';
import { settingsError } from './settings-error.js';
import { toolPermission } from './tool-permission.js';
import { trustFolder } from './trust-folder.js';

/** All known dialogs; at most one of them recognises a screen. */
export const dialogs: readonly Dialog[] = [
  trustFolder,
  projectMcpServer,
  projectMcpServers,
  apiKey,
  bypassWarning,
  settingsError,
  externalImports,
  planReady,
  toolPermission,
  limitOptions,
];

/** The dialog of this menu and its content; undefined for an unknown menu. */
export function recogniseDialog(
  menu: Menu,
): { readonly dialog: Dialog; readonly reading: DialogReading } | undefined {
  for (const dialog of dialogs) {
    const reading = dialog.recognise(menu);
    if (reading !== undefined) return { dialog, reading };
  }
  return undefined;
}
