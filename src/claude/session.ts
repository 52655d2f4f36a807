import type { Event } from '../base/event.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Pid } from '../os/pid.js';
import type { ExitStatus } from '../pty/exit-status.js';
import type { ModelUsage } from './usage-totals.js';
import type { SessionTerminal } from './session-terminal.js';

/** A session tells its end as a terminal does. */
export type { ExitStatus };

/** How sure a statement about a session is: a hook, stream or exit code is exact; a screen is observed. */
export type Source = 'exact' | 'observed';

export type RequestKind = 'permission' | 'question' | 'plan' | 'trust' | 'prompt';

/** One choice of a question to the user, as the agent wrote it. */
export interface QuestionOption {
  readonly label: string;
  readonly description?: string;
}

export interface Question {
  readonly question: string;
  readonly header: string;
  readonly multiSelect: boolean;
  readonly options: readonly QuestionOption[];
}

/** Something the session asks and cannot go on without. */
export interface SessionRequest {
  /** Unique within the session. */
  readonly requestId: string;
  readonly kind: RequestKind;
  /** The tool's name (`Bash`, `Write`, `AskUserQuestion`, …) or the dialog's id (`trust-folder`, …). */
  readonly tool: string;
  /** The tool's input as the session gave it, or what the dialog shows. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Where the session's shell is, if it says so. */
  readonly folder?: string | undefined;
  /** What is asked, on one line, for people. */
  readonly summary: string;
  /** The options of a menu, as shown; for questions the labels of the first question. */
  readonly options: readonly string[];
  /** Present when kind is `question`. */
  readonly questions?: readonly Question[];
  readonly source: Source;
}

/** Permission modes of the CLI itself that a plan's approval may set for what follows. */
export const sessionModes = ['default', 'acceptEdits'] as const;
export type SessionMode = (typeof sessionModes)[number];

export interface SessionAllowance {
  readonly verdict: 'allow' | 'allow_session';
  /** For questions: each one's text to the chosen label(s) or free text. */
  readonly answers?: Readonly<Record<string, string>>;
  /** The whole input to go on with, where it is another than the one asked about; only for requests of source `exact`. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** For plans. */
  readonly mode?: SessionMode;
}

/** An answer to a SessionRequest. */
export type SessionAnswer = SessionAllowance | { readonly verdict: 'deny'; readonly message: string };

/** Why a session cannot go on, or not now; each has words for the person in `text`. */
export type TroubleKind =
  /** The account's limit over hours or days; `rate-limit` is one over minutes, `overloaded` the API's own. */
  | 'usage-limit'
  | 'rate-limit'
  | 'overloaded'
  | 'network'
  | 'not-logged-in'
  | 'context-full'
  | 'no-credit'
  | 'api-error'
  | 'onboarding'
  | 'too-old'
  | 'silent'
  | 'refused-to-start';

/** The error that ended a turn. */
export interface TurnFault {
  readonly kind: TroubleKind;
  /** The CLI's own words. */
  readonly text: string;
  /** When a limit ends, in milliseconds since the epoch, where the CLI told it as a number. */
  readonly resetsAtMs?: number;
}

/** What a session has used; the cost is null where the CLI tells none. */
export interface SessionUsage {
  readonly models: Readonly<Record<string, ModelUsage>>;
  readonly costUsd: number | null;
}

export type SessionEvent =
  | { readonly type: 'spawned'; readonly pid: Pid | undefined }
  /** The CLI told its session id (hook or stream). `hooksLive` becomes the record's source `exact`. */
  | {
      readonly type: 'session';
      readonly sessionId: string;
      readonly cliVersion?: string;
      readonly model?: string;
    }
  | { readonly type: 'turn-started'; readonly source: Source; readonly prompt: string }
  | {
      readonly type: 'tool-started';
      readonly tool: string;
      readonly summary: string;
      readonly input: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'tool-finished';
      readonly tool: string;
      readonly summary: string;
      readonly ok: boolean;
      /** Files the tool wrote, as absolute paths. */
      readonly filesChanged: readonly string[];
    }
  | { readonly type: 'request'; readonly request: SessionRequest }
  /** The request no longer waits. Without `why` the session went on by itself, as it does when a person answers at the terminal. */
  | { readonly type: 'request-gone'; readonly requestId: string; readonly why?: string }
  /** A turn is over. `error` is set when it ended by an error of the API or the account. */
  | {
      readonly type: 'turn-ended';
      readonly source: Source;
      readonly message: string;
      readonly backgroundTasks: number;
      /** UUID of the assistant's last message, where the CLI tells it: a later session can begin behind it. */
      readonly messageId?: string;
      /** A person or the caller stopped the turn; the session waits for a message. */
      readonly interrupted?: boolean;
      readonly error?: TurnFault;
      /** Sums of the session so far, where the CLI tells them. */
      readonly usage?: SessionUsage;
    }
  /** What the program printed, readable, in whole lines; a text may hold several, joined by newlines. */
  | { readonly type: 'printed'; readonly lines: readonly string[] }
  /** The assistant said something readable in the middle of a turn. */
  | { readonly type: 'said'; readonly text: string }
  /** Worth a line in the journal and as activity: API retries, start dialogs answered, a silent start. */
  | { readonly type: 'notice'; readonly text: string }
  /** The API failed, and the CLI asks it again by itself after `delayMs`. */
  | {
      readonly type: 'retrying';
      readonly kind: TroubleKind;
      readonly text: string;
      readonly delayMs: number;
      readonly source: Source;
    }
  /** The session cannot go on; the run fails it with `text` as reason. */
  | { readonly type: 'trouble'; readonly kind: TroubleKind; readonly text: string }
  /** The bridge has pressed a key, by its name, or pasted a text (`text`). */
  | { readonly type: 'keys'; readonly keys: string; readonly why: string }
  /** More output was read; `bytes` since the last such event. */
  | { readonly type: 'output'; readonly bytes: number }
  /** The program has ended and all of its output has been read. Always the last event. */
  | { readonly type: 'exited'; readonly exit: ExitStatus };

/** What a person would see now. */
export interface ScreenView {
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
}

/** A message was `sent`, or not taken now: a request is open (`asked`), or something covers the input box (`covered`). */
export type SendResult = 'sent' | 'asked' | 'covered';

/** One running agent, whatever drives it. Events out; answers, messages and ends in. */
export interface SessionDriver extends Disposable {
  readonly onEvent: Event<SessionEvent>;
  /** Once the program runs; undefined for a driver without a terminal. */
  readonly terminal?: SessionTerminal | undefined;
  /** Resolves when the program runs; throws BridgeError when it cannot be started (nothing is left behind then). */
  start(): Promise<void>;
  /** `gone` when that request no longer waits; the answer was not used. */
  answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'>;
  /**
   * While it is kept, the end of the program is no end of the session: the next message begins the program again, with all that
   * was said before. A driver without it has sessions that end with their program.
   */
  keepSession?(isKept: boolean): void;
  /** A follow-up message to a live session. Throws BridgeError when the session has ended. */
  send(text: string): Promise<SendResult>;
  /** Interrupts the running turn, as Esc does. */
  interrupt(): Promise<void>;
  /** Ends a session whose work is done, the way a person would; falls back to `kill`. Resolves when it is gone. */
  close(): Promise<void>;
  /** Interrupt, SIGTERM, and SIGKILL after the grace time, to the program and every descendant. Resolves when all are gone. */
  kill(): Promise<void>;
  /** The screen now; for a driver without a terminal, the readable text it has. */
  screen(): Promise<ScreenView>;
  /** The last readable text, without frames, spinners and escape codes; at most `maxChars` long. */
  lastOutput(maxChars: number): string;
}
