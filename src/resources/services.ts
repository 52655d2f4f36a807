import type { Config } from '../config/schema.js';
import type { ReceiptService } from '../tasks/task-receipts.js';
import type { TaskService } from '../tasks/task-service.js';

/** What resources may use. */
export interface ResourceServices {
  readonly tasks: Pick<TaskService, 'get' | 'list' | 'onDidChange' | 'output' | 'taskIds' | 'watch'>;
  readonly receipts: ReceiptService;
  /** The settings in force. */
  readonly config: Config;
}
