// Pure.
import type { Config } from '../config/schema.js';
import type { Resource } from '../mcp/resource.js';
import type { ReceiptService } from '../tasks/receipt/task-receipts.js';
import type { TaskService } from '../tasks/task-service.js';

/** What resources may use; services are built by the first read that asks for them. */
export interface ResourceServices {
  readonly tasks: () => Promise<TaskService>;
  readonly receipts: () => Promise<ReceiptService>;
  /** The text of a page that clients show inside a chat, by its file. */
  readonly appPage: (file: string) => Promise<string>;
  /** The settings in force. */
  readonly config: Config;
}

export type BridgeResource = Resource<ResourceServices>;
