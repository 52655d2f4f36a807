// Pure.
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { SendResult } from '../claude/session.js';
import type { SessionInbox } from './session-inbox.js';
import type { HookAnswer } from './standing-requests.js';

const LEFT: HookAnswer = {};
const FROM =
  'A client of claude-code-bridge sent this message (message_task); no person typed it at this terminal:';

/** Whether a prompt is a message that was sent here, and not of the person. */
export function isOwnMessage(prompt: string): boolean {
  return prompt.includes(FROM);
}

export interface NativeMessagesOptions {
  readonly sessionId: string;
  /** Left out where Claude Code has not named its messaging socket. */
  readonly inbox: Pick<SessionInbox, 'send'> | undefined;
  readonly logger: Logger;
}

/**
 * The two ways of a message into a session of a person: as the answer of the hook at the end of a turn, and through the messaging
 * socket between turns. Nothing is typed into its terminal.
 */
export class NativeMessages {
  readonly #options: NativeMessagesOptions;
  /** While the hook at the end of a turn is being answered: `taken` is its message. */
  #turnEnd: { taken?: string } | undefined;

  constructor(options: NativeMessagesOptions) {
    this.#options = options;
  }

  /** Whether a session that is idle can be sent a message. */
  get reachesIdle(): boolean {
    return this.#options.inbox !== undefined;
  }

  /**
   * The answer of the hook at the end of a turn: with the message that `tell` sends, if it sends one. `isFirst`: no such hook has
   * continued this turn; Claude Code bounds how often one may.
   */
  atTurnEnd(isFirst: boolean, tell: () => void): HookAnswer {
    const end: { taken?: string } = {};
    this.#turnEnd = isFirst ? end : undefined;
    try {
      tell();
    } finally {
      this.#turnEnd = undefined;
    }
    return end.taken === undefined ? LEFT : { decision: 'block', reason: end.taken };
  }

  /** `away`: the session takes none now. Never rejects. */
  async send(text: string): Promise<SendResult> {
    const words = `${FROM}\n\n${text}`;
    const end = this.#turnEnd;
    if (end !== undefined && end.taken === undefined) {
      end.taken = words;
      return 'sent';
    }
    const { inbox, sessionId, logger } = this.#options;
    if (inbox === undefined) return 'away';
    try {
      await inbox.send({ text: words, sessionId });
      return 'sent';
    } catch (error) {
      logger.warn('A message could not be sent to this session', { error: messageOf(error) });
      return 'away';
    }
  }
}
