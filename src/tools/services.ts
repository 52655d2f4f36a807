// Pure.
import type { ChatBoard } from '../board/chat-board.js';
import type { AskChecks } from '../checks/allowed-checks.js';
import type { Verification } from '../checks/result.js';
import type { ConversationManager } from '../conversations/conversation-manager.js';
import type { EditorTerminals } from '../editor/editor-terminals.js';
import type { FilesystemService } from '../files/filesystem-service.js';
import type { ProjectExplorer } from '../files/project-explorer.js';
import type { GitService } from '../git/git-service.js';
import type { NativeHost } from '../native/native-host.js';
import type { Delegation } from '../tasks/delegation.js';
import type { ContainerCopies } from '../processes/docker/container-copies.js';
import type { ProcessService } from '../processes/process-service.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { ReceiptService, TaskChanges } from '../tasks/receipt/task-receipts.js';
import type { TaskRecord } from '../tasks/task.js';
import type { TaskFinisher } from '../tasks/task-finisher.js';
import type { TaskService } from '../tasks/task-service.js';

/** The page of all tasks, in a process of its own that is started if none runs. */
interface BoardOpener {
  /** A link that opens one page, within a minute. Throws STATE_UNUSABLE. */
  link(): Promise<{ readonly url: string }>;
  /** What the page in a chat reads and does. */
  readonly chat: Pick<ChatBoard, 'read' | 'act'>;
}

/** What tools may use. Each service is loaded and built by the first call that asks for it; what that throws, the call throws. */
export interface ToolServices {
  readonly tasks: () => Promise<TaskService>;
  /** Ends the worktree of a task, if the caller may. */
  readonly finisher: () => Promise<Pick<TaskFinisher, 'finish'>>;
  readonly receipts: () => Promise<ReceiptService>;
  readonly changes: () => Promise<TaskChanges>;
  /** Checks what a task did in a clean copy. */
  readonly verifications: () => Promise<{
    /** Undefined while it runs on after `limitMs`, and where `ask` has no answer yet. */
    verify(record: TaskRecord, ask: AskChecks, limitMs: number): Promise<Verification | undefined>;
  }>;
  /** The project in which relative paths begin. */
  readonly activeProject: Pick<ActiveProject, 'absolute'> & { set(path: string): Promise<string> };
  readonly git: () => Promise<GitService>;
  readonly files: () => Promise<FilesystemService>;
  readonly explorer: () => Promise<ProjectExplorer>;
  readonly conversations: () => Promise<ConversationManager>;
  readonly delegation: () => Promise<Delegation>;
  readonly processes: () => Promise<ProcessService>;
  readonly board: () => Promise<BoardOpener>;
  readonly copies: () => Promise<ContainerCopies>;
  readonly terminals: () => Promise<EditorTerminals>;
  /** What the hooks of a session that a person started report. */
  readonly native: () => Promise<Pick<NativeHost, 'event'>>;
}
