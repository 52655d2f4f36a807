import type { Check } from './check.js';
import { claudeFound, claudeLogin, claudeVersion } from './checks/claude.js';
import { clients, serverStart } from './checks/clients.js';
import { hooks } from './checks/hooks.js';
import { docker, sandbox } from './checks/optional.js';
import { allowedRoots, settingsFile } from './checks/settings.js';
import { stateDirectory } from './checks/state.js';
import { git, terminal } from './checks/system.js';
import { wholeTask } from './checks/task.js';

/** The one list of checks, in the order in which they are shown: those of a category stand together. */
export const allChecks: readonly Check[] = [
  terminal,
  git,
  settingsFile,
  allowedRoots,
  claudeFound,
  claudeVersion,
  claudeLogin,
  hooks,
  stateDirectory,
  clients,
  serverStart,
  sandbox,
  docker,
  wholeTask,
];
