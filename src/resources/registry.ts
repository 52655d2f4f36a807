import { appPages } from '../base/package.js';
import { describeConfig } from '../config/describe-config.js';
import { APP_MIME_TYPE } from '../mcp/client.js';
import type { BridgeResource } from './define-resource.js';
import { activeTasks, taskLog, taskRecord } from './task-resources.js';

const currentConfig: BridgeResource = {
  name: 'config',
  title: 'Current settings',
  description: 'Current server configuration, without secrets',
  mimeType: 'application/json',
  uri: 'config://current',
  read: async (_variable, { config }) => JSON.stringify(describeConfig(config), undefined, 2),
};

const skill: BridgeResource = {
  name: 'skill',
  title: 'How to use this bridge well',
  description: 'A skill: how to delegate to Claude Code, answer it, check what it did, and go on',
  mimeType: 'text/markdown',
  uri: 'skill://claude-code-bridge/SKILL.md',
  isSkill: true,
  // A page of text that few clients ask for is no part of a start.
  read: async () => (await import('./skill-text.js')).skillText,
};

/** A page that a client shows inside the chat. */
function appPage(page: keyof typeof appPages, title: string, description: string): BridgeResource {
  const { uri, file } = appPages[page];
  return {
    name: `${page}-app`,
    title,
    description,
    mimeType: APP_MIME_TYPE,
    uri,
    isApp: true,
    read: async (_variable, services) => services.appPage(file),
  };
}

/** Every resource there is, sorted by URI. */
export const allResources: readonly BridgeResource[] = [
  currentConfig,
  taskLog,
  skill,
  activeTasks,
  taskRecord,
  appPage('board', 'Board', 'All tasks, inside the chat'),
  appPage('decision', 'Questions of tasks', 'What tasks ask, inside the chat'),
];
