// Pure.
import type { AskedRequest } from '../approvals/judge.js';
import type { Clock } from '../base/clock.js';
import type { Event, Disposable } from '../base/lifecycle.js';
import type { Pid } from '../os/pid.js';
import type { PtySpawner } from '../pty/child.js';
import type { ExitStatus } from '../pty/exit-status.js';
import type { CommandEnd, ToolEnd } from './command-outcome.js';
import type { SessionUsage } from './usage.js';
import type { SessionTerminal } from './session-terminal.js';

/** A session reports its end like a terminal. */
export type { ExitStatus, SessionUsage };

/** How reliable a fact about a session is: `exact` from a hook, stream or exit code; `observed` on a screen. */
type Source = 'exact' | 'observed';

/** One choice of a question to the user, as the agent wrote it. */
interface QuestionOption {
  readonly label: string;
  readonly description?: string;
}

export interface Question {
  readonly question: string;
  readonly header: string;
  readonly multiSelect: boolean;
  readonly options: readonly QuestionOption[];
}

/** A request that the session needs answered to go on. */
export interface SessionRequest {
  /** Unique within the session. */
  readonly requestId: string;
  readonly kind: AskedRequest['kind'];
  /** The tool's name (`Bash`, `Write`, `AskUserQuestion`, …) or the dialog's id (`trust-folder`, …). */
  readonly tool: string;
  /** The tool's input as the session sent it, or what the dialog shows. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The working directory of the session's shell, if reported. */
  readonly folder?: string | undefined;
  /** The request on one line, for people. */
  readonly summary: string;
  /** The options of a menu, as shown; for questions the labels of the first question. */
  readonly options: readonly string[];
  /** Present when kind is `question`. */
  readonly questions?: readonly Question[];
  readonly source: Source;
  /** Why Claude Code asks, where it or the bridge said so. */
  readonly why?: string | undefined;
}

/** A call of a tool that Claude Code has not judged yet. */
export interface ToolCall {
  /** Claude Code's id of the call. */
  readonly id?: string | undefined;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The CLI's own permission mode, as it reports it. */
  readonly cliMode?: string | undefined;
}

/** `pass` leaves it to Claude Code. No `allow` is stronger than a rule of Claude Code's that denies or asks. */
export interface ToolVerdict {
  readonly verdict: 'allow' | 'deny' | 'ask' | 'pass';
  /** Why, in words for a person. */
  readonly reason: string;
  /** Said once in the log of the task. */
  readonly notice?: string | undefined;
}

/** What the bridge says of a session's calls, and learns from it for that. */
export interface SessionGuard {
  beforeTool(call: ToolCall): Promise<ToolVerdict>;
  /** Claude Code has read the file as instructions. */
  instructedBy(path: string): void;
  /** The session has started an agent of its own. */
  startedAgent(id: string): void;
}

/** The CLI's permission modes that the approval of a plan may set for the following work. */
export const sessionModes = ['default', 'acceptEdits'] as const;
export type SessionMode = (typeof sessionModes)[number];

export interface SessionAllowance {
  readonly verdict: 'allow' | 'allow_session';
  /** For questions: maps the text of each to the chosen label(s) or free text. */
  readonly answers?: Readonly<Record<string, string>>;
  /** A complete input that replaces the requested one; only for requests of source `exact`. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** For plans. */
  readonly mode?: SessionMode;
}

/** An answer to a SessionRequest. */
export type SessionAnswer = SessionAllowance | { readonly verdict: 'deny'; readonly message: string };

/** Why a session cannot go on, or not now; `text` explains it to a person. */
export type TroubleKind =
  /** The account's limit for hours or days; `rate-limit` is one for minutes, `overloaded` a problem of the API itself. */
  | 'usage-limit'
  | 'rate-limit'
  | 'overloaded'
  | 'network'
  | 'not-logged-in'
  | 'context-full'
  | 'no-model'
  | 'no-credit'
  | 'api-error'
  | 'onboarding'
  | 'too-old'
  | 'silent'
  | 'refused-to-start'
  | 'settings-lost';

/** An error that ended a turn. */
export interface TurnError {
  readonly kind: TroubleKind;
  /** The CLI's own words. */
  readonly text: string;
  /** When a limit ends, in milliseconds since the epoch, if the CLI reported it as a number. */
  readonly resetsAtMs?: number;
}

export type SessionEvent =
  | { readonly type: 'spawned'; readonly pid: Pid | undefined }
  /** The CLI reported its session id, by a hook or its stream. */
  | {
      readonly type: 'session';
      readonly sessionId: string;
      readonly cliVersion?: string;
      readonly model?: string;
      /** `exact` if absent. */
      readonly source?: Source;
    }
  | { readonly type: 'turn-started'; readonly source: Source; readonly prompt: string }
  /** The model was not asked: a hook of the person's or the project's blocked the prompt, or Claude Code answered it itself. The turn is over. */
  | { readonly type: 'prompt-blocked'; readonly reason: string }
  | {
      readonly type: 'tool-started';
      /** Claude Code's id of the call. */
      readonly id?: string | undefined;
      readonly tool: string;
      readonly summary: string;
      readonly input: Readonly<Record<string, unknown>>;
    }
  | (ToolEnd & {
      readonly type: 'tool-finished';
      readonly id?: string | undefined;
      readonly tool: string;
      readonly summary: string;
      /** What the call gave to a shell, as it was allowed. */
      readonly line?: string | undefined;
      /** The files that the tool wrote, as absolute paths. */
      readonly filesChanged: readonly string[];
      /** The tool created them. */
      readonly isNew?: true;
      /** The agent asked to be called again, at `atMs` (milliseconds since the epoch). */
      readonly wakeUp?: { readonly atMs: number; readonly prompt: string };
    })
  /** A command ended that ran in the background, or was running when the session was killed. */
  | {
      readonly type: 'command-ended';
      readonly id: string;
      readonly command: string;
      readonly summary: string;
      readonly end: CommandEnd;
    }
  | { readonly type: 'request'; readonly request: SessionRequest }
  /** The request is no longer pending. Without `why`, the session went on without the bridge: a person answered at the terminal. */
  | {
      readonly type: 'request-gone';
      readonly requestId: string;
      readonly why?: string;
      /** Set where it is known that a person answered. */
      readonly by?: 'terminal';
    }
  /** A turn has ended. `error` is set when the cause was an error of the API or the account. */
  | {
      readonly type: 'turn-ended';
      readonly source: Source;
      readonly message: string;
      readonly backgroundTasks: number;
      /** The UUID of the assistant's last message, if the CLI reports it: a later session can continue from there. */
      readonly messageId?: string;
      /** A person or the caller stopped the turn; the session waits for a message. */
      readonly interrupted?: boolean;
      readonly error?: TurnError;
      /** The totals of the session so far, if the CLI reports them. */
      readonly usage?: SessionUsage;
    }
  /** The program printed readable lines; one string may hold several, joined by newlines. */
  | { readonly type: 'printed'; readonly lines: readonly string[] }
  /** The assistant said something in the middle of a turn; `atMs`: then, where that is known. */
  | { readonly type: 'said'; readonly text: string; readonly atMs?: number }
  /** Something for the journal and the list of activity, such as an API retry or a silent start. */
  | { readonly type: 'notice'; readonly text: string }
  /** A dialog on the screen waits that is no request: the bridge does not know it, or no hook reported it. null: it is gone. */
  | { readonly type: 'dialog'; readonly text: string | null }
  /** The API failed; the CLI retries automatically after `delayMs`: `attempt`, from 1, of this request. */
  | {
      readonly type: 'retrying';
      readonly kind: TroubleKind;
      readonly text: string;
      readonly delayMs: number;
      readonly attempt: number;
      readonly source: Source;
    }
  /** The session cannot go on; the task fails with `text` as its reason. */
  | { readonly type: 'trouble'; readonly kind: TroubleKind; readonly text: string }
  /** The bridge pressed a key (its name), or pasted text (`text`). */
  | { readonly type: 'keys'; readonly keys: string; readonly why: string }
  /** More output was read: `bytes` since the last such event. */
  | { readonly type: 'output'; readonly bytes: number }
  /** The program has ended and all its output was read. Always the last event. */
  | { readonly type: 'exited'; readonly exit: ExitStatus };

/** What every driver needs to start and end its program. */
export interface DriverOptions {
  readonly clock: Clock;
  /** Absolute program path and configured arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Ends the process and all its descendants, even if the process itself is gone. Resolves when none is left. */
  readonly killTree: (pid: Pid | undefined) => Promise<void>;
}

/** The same for a driver with a terminal. */
export interface TerminalDriverOptions extends DriverOptions {
  readonly pty: PtySpawner;
  readonly shell: string;
  /** The file with the prompt, which becomes the program's stdin. */
  readonly promptFile: string;
  /** Receives every byte of the terminal, for the recording. */
  readonly onBytes: (bytes: Uint8Array) => Promise<void> | undefined;
}

/** What a person would see now. */
export interface ScreenView {
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
}

/** Of a prompt that is not quite the text that was given. */
export const MESSAGE_CHANGED =
  'The terminal changed the text, such as a tab or the path of an image, so the agent got the exact text, too.';

/**
 * A message was `sent`: Claude Code has reported it as a prompt. Or it was not yet: a request is open (`asked`), something covers the input
 * box (`covered`), or the session takes none now (`away`). Or it never will be: Claude Code took it as a `command` of its own, Enter left it
 * in the box (`kept`), or the session ended (`left`).
 */
export type SendResult = 'sent' | 'asked' | 'covered' | 'away' | 'command' | 'kept' | 'left';

/** Controls one running agent: fires its events, and sends it answers, messages and the end. */
export interface SessionDriver extends Disposable {
  readonly onEvent: Event<SessionEvent>;
  /** Set once the program runs; undefined for a driver without a terminal. */
  readonly terminal?: SessionTerminal | undefined;
  /** Resolves when the program runs. Throws BridgeError, and leaves nothing behind, when it cannot be started. */
  start(): Promise<void>;
  /** `gone` when the request is no longer pending; the answer was not used. */
  answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'>;
  /**
   * While a session is kept, it survives the end of its program: the next message starts the program again, with the whole conversation.
   * With a driver that lacks this method, a session ends with its program.
   */
  keepSession?(isKept: boolean): void;
  /** Sends a follow-up message. Throws BridgeError when the session has ended. */
  send(text: string): Promise<SendResult>;
  /**
   * What the session has used so far, as Claude Code counts it, its subagents included; with the id of a call, also the message that asks
   * for it. Undefined where nothing tells. A driver that lacks this method never knows.
   */
  readonly usage?: ((callId?: string) => Promise<SessionUsage | undefined>) | undefined;
  /** Interrupts the running turn, as Esc does. */
  interrupt(): Promise<void>;
  /** Ends a session whose work is done as a person would, or else kills it. Resolves when it is gone. */
  close(): Promise<void>;
  /** Sends an interrupt, SIGTERM, and after the grace time SIGKILL to the program and all descendants. Resolves when all are gone. */
  kill(): Promise<void>;
  /** The current screen; for a driver without a terminal, its last readable text. */
  screen(): Promise<ScreenView>;
  /** The last readable text, without frames, spinners and escape codes; at most `maxChars` long. */
  lastOutput(maxChars: number): string;
}
