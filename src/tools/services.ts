import type { ConversationManager } from '../conversations/conversation-manager.js';
import type { FileAccess } from '../files/lazy-filesystem-service.js';
import type { ProjectExplorer } from '../files/project-explorer.js';
import type { GitService } from '../git/git-service.js';
import type { Delegation } from '../tasks/delegation.js';
import type { ContainerCopies } from '../processes/docker/container-copies.js';
import type { ProcessService } from '../processes/process-service.js';
import type { TaskFinisher } from '../tasks/task-finisher.js';
import type { TaskService } from '../tasks/task-service.js';
import type { ReceiptService } from '../tasks/task-receipts.js';

/** What of the active project the tools need. */
export interface ProjectChoice {
  /** The real path. Throws BridgeError: PATH_NOT_ALLOWED, PATH_NOT_FOUND, NOT_A_DIRECTORY. */
  set(path: string): Promise<string>;
}

/** What of git the tools need. */
export type GitTools = Pick<GitService, 'status' | 'diffStat' | 'diff' | 'log' | 'show' | 'init'>;

/** What of single files the tools need. */
export type FileTools = FileAccess;

/** What of folders the tools need. */
export type ExplorerTools = Pick<ProjectExplorer, 'list' | 'names' | 'tree' | 'search'>;

/** What of conversations the tools need. */
export type ConversationTools = Pick<ConversationManager, 'ask' | 'answer' | 'status' | 'recent' | 'cancel'>;

/** What of delegation the tools need. */
export type DelegationTools = Pick<Delegation, 'delegate' | 'task' | 'logs' | 'cancel'>;

/** What of processes the tools need. */
export type ProcessTools = Pick<ProcessService, 'spawn' | 'input' | 'output' | 'list' | 'kill'>;

/** What of copies in and out of containers the tools need. */
export type CopyTools = Pick<ContainerCopies, 'copyTo' | 'copyFrom'>;

/** What tools may use; add a service only when a tool uses it. */
export interface ToolServices {
  readonly tasks: TaskService;
  readonly finisher: Pick<TaskFinisher, 'finish'>;
  readonly receipts: ReceiptService;
  readonly activeProject: ProjectChoice;
  readonly git: GitTools;
  readonly files: FileTools;
  readonly explorer: ExplorerTools;
  readonly conversations: ConversationTools;
  readonly delegation: DelegationTools;
  readonly processes: ProcessTools;
  readonly copies: CopyTools;
}
