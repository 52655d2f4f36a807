import { systemClock } from '../base/system-clock.js';
import type { Config } from '../config/schema.js';
import { ConversationManager } from '../conversations/conversation-manager.js';
import type { ActiveProject } from '../projects/active-project.js';
import { Delegation } from '../tasks/delegation.js';
import type { TaskService } from '../tasks/task-service.js';

/** The two services that start tasks under names of their own. */
export interface ConversationServices {
  readonly conversations: ConversationManager;
  readonly delegation: Delegation;
}

export function createConversationServices(
  config: Config,
  tasks: TaskService,
  activeProject: ActiveProject,
): ConversationServices {
  return {
    conversations: new ConversationManager({
      tasks,
      project: activeProject,
      clock: systemClock,
      skipPermissions: config.conversation_skip_permissions,
    }),
    delegation: new Delegation({
      tasks,
      project: activeProject,
      maxRunning: config.delegate_max_running,
    }),
  };
}
