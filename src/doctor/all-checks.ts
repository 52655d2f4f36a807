import type { Check } from './check.js';
import { allowedRoots } from './checks/allowed-roots.js';
import { claudeFound } from './checks/claude-found.js';
import { claudeLogin } from './checks/claude-login.js';
import { claudeVersion } from './checks/claude-version.js';
import { clients } from './checks/clients.js';
import { docker } from './checks/docker.js';
import { git } from './checks/git.js';
import { hooks } from './checks/hooks.js';
import { nodeVersion } from './checks/node-version.js';
import { plugin } from './checks/plugin.js';
import { ripgrep } from './checks/ripgrep.js';
import { sandbox } from './checks/sandbox.js';
import { serverStart } from './checks/server-start.js';
import { settingsFile } from './checks/settings-file.js';
import { stateDirectory } from './checks/state-directory.js';
import { terminal } from './checks/terminal.js';
import { wholeTask } from './checks/whole-task.js';

/** The one list of checks, in the order in which they are shown: those of a category stand together. */
export const allChecks: readonly Check[] = [
  nodeVersion,
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
  ripgrep,
  sandbox,
  docker,
  plugin,
  wholeTask,
];
