// Pure: describes the kinds of trouble, and says which of them pass on their own.
import type { TroubleKind } from '../session.js';

export interface TroubleWords {
  /** What is wrong, as the beginning of a sentence. */
  readonly name: string;
  /** What the caller does next if the task does not wait, as a sentence. `nextAsk` is the one for a question, if different. */
  readonly next: string;
  readonly nextAsk?: string;
  /** The name while Claude Code retries automatically, if different. */
  readonly nameOfRetry?: string;
  /** It passes on its own: with the setting resume_after_limit the task waits for that. */
  readonly passes: boolean;
}

const troubleRows: Readonly<Record<TroubleKind, TroubleWords>> = {
  'usage-limit': {
    name: 'The usage limit of the account is reached',
    next: 'Another task can go on from it after the reset; with the setting resume_after_limit tasks wait for that.',
    nextAsk: 'Ask again after the reset; earlier answers can be continued from as before.',
    passes: true,
  },
  'rate-limit': {
    name: 'The API is limiting the requests of this account for now',
    next: 'Another task can go on from it in a few minutes.',
    nextAsk: 'Ask again in a few minutes.',
    passes: true,
  },
  overloaded: {
    name: 'The API is overloaded or has an internal error',
    next: 'Another task can go on from it in a few minutes; see https://status.claude.com.',
    nextAsk: 'Ask again in a few minutes; see https://status.claude.com.',
    passes: true,
  },
  network: {
    name: 'The API cannot be reached',
    next: 'Check the network (and HTTPS_PROXY, ANTHROPIC_BASE_URL), then another task can go on from it.',
    nextAsk: 'Check the network (and HTTPS_PROXY, ANTHROPIC_BASE_URL), then ask again.',
    passes: true,
  },
  'not-logged-in': {
    name: 'Claude Code is not logged in, or its login has expired',
    next: 'Run `claude` once in a terminal and log in (/login), or set a valid key; then start the task again.',
    nextAsk: 'Run `claude` once in a terminal and log in (/login), or set a valid key; then ask again.',
    passes: false,
  },
  'context-full': {
    name: 'The conversation is too long for the model',
    next: 'Start a new session, with all it must know in its prompt; or split the work into smaller tasks.',
    nextAsk: 'Ask without previousResponseId, or continue from an earlier answer.',
    passes: false,
  },
  'no-model': {
    name: 'The model cannot be used by this account',
    next: 'Start the task again with another model, or get access to this one.',
    nextAsk: 'Ask again with another model, or get access to this one.',
    passes: false,
  },
  'no-credit': {
    name: 'The account has no credit left',
    next: 'Add credit or raise the limit of the account, then another task can go on from it.',
    nextAsk: 'Add credit or raise the limit of the account, then ask again.',
    passes: false,
  },
  'api-error': {
    name: 'The API refused the request',
    nameOfRetry: 'The API returned an error',
    next: 'Read the error of the API; the same request would fail again.',
    passes: false,
  },
  onboarding: {
    name: 'Claude Code has never been started here',
    next: 'Run `claude` once in a terminal, finish its first start, and start the task again.',
    passes: false,
  },
  'too-old': { name: 'Claude Code is too old', next: 'Update it (claude update).', passes: false },
  silent: {
    name: 'Claude Code does not respond',
    next: 'Look at its screen.',
    passes: false,
  },
  'refused-to-start': {
    name: 'A dialog of Claude Code could not be answered',
    next: 'Run `claude` once in the project, answer it there, and start the task again.',
    passes: false,
  },
  'settings-lost': {
    name: 'Claude Code does not use the settings of the bridge',
    next: 'If a policy of this machine forbids hooks, allow those to http://127.0.0.1, or start the task with driver "print", which needs none.',
    passes: false,
  },
};

export function troubleWords(kind: TroubleKind): TroubleWords {
  return troubleRows[kind];
}
