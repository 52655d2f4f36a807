// Pure: the kinds of trouble in words, and which of them pass by themselves.
import type { TroubleKind } from '../session.js';

export interface TroubleWords {
  /** What is so, as the beginning of a sentence. */
  readonly name: string;
  /** What a person or a caller does next, when it is not waited for. A sentence; `nextAsk` where it is another for a question. */
  readonly next: string;
  readonly nextAsk?: string;
  /** The same where Claude Code asks again by itself, where that is something else. */
  readonly nameOfRetry?: string;
  /** It passes by itself: with the setting resume_after_limit the task waits for that. */
  readonly passes: boolean;
}

const troubleRows: Readonly<Record<TroubleKind, TroubleWords>> = {
  'usage-limit': {
    name: 'The usage limit of the account is reached',
    next: 'Go on after the reset with start_task and continue_from this task, or let tasks wait for it with the setting resume_after_limit.',
    nextAsk: 'Ask again after the reset; earlier answers can be continued from as before.',
    passes: true,
  },
  'rate-limit': {
    name: 'The API takes no more requests of this account for now',
    next: 'Go on in some minutes with start_task and continue_from this task.',
    nextAsk: 'Ask again in some minutes.',
    passes: true,
  },
  overloaded: {
    name: 'The API is overloaded or has a fault of its own',
    next: 'Go on in some minutes with start_task and continue_from this task; https://status.claude.com tells more.',
    nextAsk: 'Ask again in some minutes; https://status.claude.com tells more.',
    passes: true,
  },
  network: {
    name: 'The API cannot be reached',
    next: 'Check the network (and ANTHROPIC_BASE_URL), then go on with start_task and continue_from this task.',
    nextAsk: 'Check the network (and ANTHROPIC_BASE_URL), then ask again.',
    passes: true,
  },
  'not-logged-in': {
    name: 'Claude Code is not logged in, or its login has expired',
    next: 'Run `claude` once in a terminal and log in (/login), or set a valid key; then start the task again.',
    nextAsk: 'Run `claude` once in a terminal and log in (/login), or set a valid key; then ask again.',
    passes: false,
  },
  'context-full': {
    name: 'The conversation is longer than the model takes',
    next: 'Start a new task without continue_from, and say in its prompt what has to be known; or give the work in smaller parts.',
    nextAsk: 'Ask without previousResponseId, or continue from an earlier answer.',
    passes: false,
  },
  'no-credit': {
    name: 'The account has no credit left',
    next: 'Add credit or raise the limit of the account, then go on with start_task and continue_from this task.',
    nextAsk: 'Add credit or raise the limit of the account, then ask again.',
    passes: false,
  },
  'api-error': {
    name: 'The API refused the request',
    nameOfRetry: 'The API has answered with an error',
    next: 'Look at the words of the API; what it refuses once it refuses again.',
    passes: false,
  },
  onboarding: {
    name: 'Claude Code was never started before',
    next: 'Run `claude` once in a terminal, finish its first start, and start the task again.',
    passes: false,
  },
  'too-old': { name: 'Claude Code is too old', next: 'Update it (claude update).', passes: false },
  silent: {
    name: 'Claude Code shows no sign of life',
    next: 'Look at the screen (get_task_output with view "screen").',
    passes: false,
  },
  'refused-to-start': {
    name: 'A dialog of Claude Code could not be answered',
    next: 'Run `claude` once in the project, answer it there, and start the task again.',
    passes: false,
  },
};

export function troubleWords(kind: TroubleKind): TroubleWords {
  return troubleRows[kind];
}
