import type { Resource } from '../mcp/resource.js';
import { activeTasks } from './active-tasks.js';
import { boardPage, decisionPage } from './app-page.js';
import { currentConfig } from './current-config.js';
import type { ResourceServices } from './define-resource.js';
import { skill } from './skill.js';
import { taskLog } from './task-log.js';
import { taskRecord } from './task-record.js';

/** Every resource there is, sorted by URI. */
export const allResources: readonly Resource<ResourceServices>[] = [
  currentConfig,
  taskLog,
  skill,
  activeTasks,
  taskRecord,
  boardPage,
  decisionPage,
];
