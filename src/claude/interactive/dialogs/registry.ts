import type { Menu } from '../menu.js';
import { apiKey } from './api-key.js';
import { bypassWarning } from './bypass-warning.js';
import type { Dialog, DialogReading } from './dialog.js';
import { limitOptions } from './limit-options.js';
import { planReady } from './plan-ready.js';
import { projectMcpServer } from './project-mcp-server.js';
import { projectMcpServers } from './project-mcp-servers.js';
import { reviewAnswers } from './review-answers.js';
import { toolPermission } from './tool-permission.js';
import { trustFolder } from './trust-folder.js';
import { userQuestion } from './user-question.js';

/** Every dialog the bridge knows; each screen is recognised by one of them at most. */
export const dialogs: readonly Dialog[] = [
  trustFolder,
  projectMcpServer,
  projectMcpServers,
  apiKey,
  bypassWarning,
  planReady,
  userQuestion,
  reviewAnswers,
  toolPermission,
  limitOptions,
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
