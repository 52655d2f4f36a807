import type { Menu } from '../menu.js';
import { apiKey } from './api-key.js';
import { bypassWarning } from './bypass-warning.js';
import type { Dialog, DialogReading } from './dialog.js';
import { planReady } from './plan-ready.js';
import { projectMcpServer } from './project-mcp-server.js';
import { toolPermission } from './tool-permission.js';
import { trustFolder } from './trust-folder.js';
import { userQuestion } from './user-question.js';

/** Every dialog the bridge knows, in the order in which they are tried. */
export const dialogs: readonly Dialog[] = [
  trustFolder,
  projectMcpServer,
  apiKey,
  bypassWarning,
  planReady,
  userQuestion,
  toolPermission,
];

/** The dialog that this menu is, with what it asks; undefined for a menu that nobody knows. */
export function recogniseDialog(
  menu: Menu,
): { readonly dialog: Dialog; readonly reading: DialogReading } | undefined {
  for (const dialog of dialogs) {
    const reading = dialog.recognise(menu);
    if (reading !== undefined) return { dialog, reading };
  }
  return undefined;
}
