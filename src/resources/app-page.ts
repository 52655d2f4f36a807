import { appPages } from '../base/package.js';
import { APP_MIME_TYPE } from '../mcp/client.js';
import type { Resource } from '../mcp/resource.js';
import { defineResource } from './define-resource.js';
import type { ResourceServices } from './services.js';

/** The page of all tasks in the chat. */
export const boardPage = appPage('board', 'Board', 'All tasks, inside the chat');
/** What tasks ask, where a caller waits for them. */
export const decisionPage = appPage('decision', 'Questions of tasks', 'What tasks ask, inside the chat');

function appPage(
  page: keyof typeof appPages,
  title: string,
  description: string,
): Resource<ResourceServices> {
  const { uri, file } = appPages[page];
  return defineResource({
    name: `${page}-app`,
    title,
    description,
    mimeType: APP_MIME_TYPE,
    uri,
    isApp: true,
    read: async (_variable, { appPage: read }) => read(file),
  });
}
