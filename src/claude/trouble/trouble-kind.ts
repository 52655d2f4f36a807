// Pure: the error that ended a turn, as the CLI reported it → the kind of trouble.
import type { AccountLimit } from '../message-content.js';
import type { TroubleKind, TurnError } from '../session.js';

/** An error as the CLI reported it in a hook or its stream, never in a program's output. */
export interface ReportedError {
  /** The CLI's name for the error: `rate_limit`, `authentication_failed`, `server_error`, … */
  readonly code?: string | undefined;
  /** A more precise name, since 2.1.330: `usage_limit_reached`, `connection_failed`, … */
  readonly detail?: string | undefined;
  /** The HTTP status of the API's answer. */
  readonly status?: number | undefined;
  /** The stream has reported that the account's limit is reached. */
  readonly limitIsReached?: boolean | undefined;
  /** The CLI's words to the user. */
  readonly text: string;
}

interface KindRow {
  readonly kind: TroubleKind;
  readonly code?: RegExp;
  readonly detail?: RegExp;
  readonly status?: (status: number) => boolean;
  readonly limitIsReached?: true;
  readonly text?: RegExp;
}

/**
 * All conditions of a row must be true; the first such row decides. Seen with 2.1.330 against an API that answers 429, 529,
 * 401, 403 and 400, and one that does not accept connections; further names are from the CLI's own code.
 */
const kindRows: readonly KindRow[] = [
  { kind: 'usage-limit', detail: /^usage_limit_reached$/ },
  { kind: 'usage-limit', code: /^rate_limit$/, limitIsReached: true },
  {
    kind: 'usage-limit',
    code: /^(rate_limit|billing_error)$/,
    text: /^(You've (hit|reached) your |You're out of |Your org is out of |Claude( AI)? usage limit reached|Usage limit reached)/,
  },
  // With the code of a login that failed, and the words to log in.
  { kind: 'no-model', text: /^(.{0,40} )?API Error: 403\b.*\b(this|the) model\b/ },
  { kind: 'no-model', text: /^There's an issue with the selected model\b/ },
  { kind: 'not-logged-in', code: /^(authentication_failed|oauth_org_not_allowed|cloud_credential_error)$/ },
  { kind: 'not-logged-in', code: /^(account_on_hold|verification_required)$/ },
  {
    kind: 'not-logged-in',
    detail:
      /^(provider_credentials|gateway_signin_required|gateway_session_expired|api_key_auth_disabled|org_disabled_credential|invalid_credential_header|named_profile_unusable)$/,
  },
  { kind: 'not-logged-in', status: (status) => status === 401 },
  { kind: 'no-credit', code: /^billing_error$/ },
  { kind: 'no-credit', detail: /^(model_requires_usage_credits|long_context_credits_required)$/ },
  { kind: 'context-full', detail: /^message_over_context_limit$/ },
  { kind: 'context-full', code: /^invalid_request$/, text: /prompt is too long|exceed context limit/i },
  { kind: 'rate-limit', code: /^rate_limit$/ },
  { kind: 'rate-limit', status: (status) => status === 429 },
  { kind: 'overloaded', code: /^overloaded$/ },
  { kind: 'overloaded', status: (status) => status >= 500 },
  {
    kind: 'network',
    detail: /^(connection_failed|stream_idle_timeout|computer_slept|network_edge_blocked)$/,
  },
  {
    kind: 'network',
    text: /^(API Error: )?(Unable to connect|Connection (refused|reset|error|closed|timed out)|Request timed out|fetch failed|Network error)|\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)\b/i,
  },
  { kind: 'overloaded', text: /^(API Error: )?(Repeated )?5\d\d\b|^API Error: .{0,40}Overloaded\b/i },
];

/** `api-error` when no row matches. */
export function troubleKindOf(error: ReportedError): TroubleKind {
  return kindRows.find((row) => matches(row, error))?.kind ?? 'api-error';
}

/** The error that ended a turn; `limit`: the account's, as it was reported last. */
export function turnError(error: ReportedError, limit: AccountLimit | undefined): TurnError {
  const kind = troubleKindOf({ ...error, limitIsReached: limit?.isReached });
  const resetsAtMs = kind === 'usage-limit' && limit?.isReached === true ? limit.resetsAtMs : undefined;
  return { kind, text: error.text, ...(resetsAtMs !== undefined && { resetsAtMs }) };
}

function matches(
  row: KindRow,
  { code = '', detail = '', status, limitIsReached, text }: ReportedError,
): boolean {
  return (
    row.code?.test(code) !== false &&
    row.detail?.test(detail) !== false &&
    (row.status === undefined || (status !== undefined && row.status(status))) &&
    (row.limitIsReached === undefined || limitIsReached === true) &&
    row.text?.test(text) !== false
  );
}

/** `API error · Retrying in 4s · attempt 4/10`, `529 Overloaded · retrying in 1m 2s · attempt 3/10`. */
const retryPattern = /^(.*?) · [Rr]etrying in (?:(\d{1,3})m ?)?(?:(\d{1,6})s)?.*\battempt (\d+)\/\d+/u;
const statusPattern = /^(\d{3})\b/;

export interface RetryLine {
  readonly kind: TroubleKind;
  readonly delayMs: number;
  readonly attempt: number;
}

/** Parses the line in which the CLI announces that it will retry the API, as `readRetryNotice` found it; undefined for another form. */
export function readRetryLine(line: string): RetryLine | undefined {
  const match = retryPattern.exec(line);
  if (match === null) return undefined;
  const [, text = '', minutes = '0', seconds = '0', attempt = ''] = match;
  const status = statusPattern.exec(text)?.[1];
  return {
    kind: troubleKindOf({ text, status: status === undefined ? undefined : Number(status) }),
    delayMs: (Number(minutes) * 60 + Number(seconds)) * 1_000,
    attempt: Number(attempt),
  };
}
