// Pure.
import type { ConversationManager } from '../conversations/conversation-manager.js';
import type { EditorTerminals } from '../editor/editor-terminals.js';
import type { FilesystemService } from '../files/filesystem-service.js';
import type { ProjectExplorer } from '../files/project-explorer.js';
import type { GitService } from '../git/git-service.js';
import type { Delegation } from '../tasks/delegation.js';
import type { ContainerCopies } from '../processes/docker/copies/container-copies.js';
import type { ProcessService } from '../processes/process-service.js';
import type { FinishedTask, FinishTask } from '../tasks/task-finisher.js';
import type { TaskService } from '../tasks/task-service.js';
import type { ReceiptService, TaskChanges } from '../tasks/receipt/task-receipts.js';

/** The project in which relative paths begin. */
interface ProjectChoice {
  /** Returns the real path. Throws BridgeError: PATH_NOT_ALLOWED, PATH_NOT_FOUND, NOT_A_DIRECTORY. */
  set(path: string): Promise<string>;
  /** The path as an absolute one, not yet checked; the active project without one. Throws BridgeError: NO_ALLOWED_ROOTS, NO_ACTIVE_PROJECT. */
  absolute(path?: string): Promise<string>;
}

/** Ends the worktree of a task, if the caller may. */
interface Finisher {
  finish(query: FinishTask): Promise<FinishedTask>;
}

/** The page of all tasks, in a process of its own that is started if none runs. */
interface BoardOpener {
  /** A link that opens one page, within a minute. Throws STATE_UNUSABLE. */
  link(): Promise<{ readonly url: string }>;
  readonly chat: ChatBoard;
}

/** What the page in a chat reads and does. */
interface ChatBoard {
  read(query: ChatQuery, signal: AbortSignal): Promise<ChatAnswer>;
  /** What it asks for is checked there. */
  act(asked: { readonly client: string; readonly action: unknown }): Promise<ChatOutcome>;
}

/** What the hooks of a session that a person started report. */
interface NativeSessions {
  /** Resolves with what the hook answers; `{}` leaves everything to the person. Never rejects. */
  event(
    fields: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>>;
}

interface ChatQuery {
  readonly after?: string | undefined;
  readonly tasks?: readonly string[] | undefined;
  readonly wait_ms: number;
}

interface ChatAnswer {
  readonly answer: string;
  readonly version: string;
  readonly home: string;
  readonly whole: boolean;
  readonly set: Readonly<Record<string, unknown>>;
  readonly del: readonly string[];
}

interface ChatOutcome {
  readonly ok: boolean;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string } | undefined;
}

/** What tools may use. Each service is loaded and built by the first call that asks for it; what that throws, the call throws. */
export interface ToolServices {
  readonly tasks: () => Promise<TaskService>;
  readonly finisher: () => Promise<Finisher>;
  readonly receipts: () => Promise<ReceiptService>;
  readonly changes: () => Promise<TaskChanges>;
  readonly activeProject: ProjectChoice;
  readonly git: () => Promise<GitService>;
  readonly files: () => Promise<FilesystemService>;
  readonly explorer: () => Promise<ProjectExplorer>;
  readonly conversations: () => Promise<ConversationManager>;
  readonly delegation: () => Promise<Delegation>;
  readonly processes: () => Promise<ProcessService>;
  readonly board: () => Promise<BoardOpener>;
  readonly copies: () => Promise<ContainerCopies>;
  readonly terminals: () => Promise<EditorTerminals>;
  readonly native: () => Promise<NativeSessions>;
}
