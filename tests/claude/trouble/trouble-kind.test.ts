import { describe, expect, it } from 'vitest';
import { troubleKindOf, type ReportedError } from '../../../src/claude/trouble/trouble-kind.js';

/** As the CLI tells them in its stream (2.1.330), or in the hook StopFailure. */
const told: readonly (ReportedError & { readonly kind: string })[] = [
  {
    kind: 'usage-limit',
    code: 'rate_limit',
    detail: 'usage_limit_reached',
    status: 429,
    text: "You've hit your 5-hour limit · resets 9:32am (UTC)",
  },
  { kind: 'usage-limit', code: 'rate_limit', limitIsReached: true, text: 'words of another version' },
  {
    kind: 'rate-limit',
    code: 'rate_limit',
    status: 429,
    text: 'API Error: Request rejected (429) · This request would exceed your organization’s rate limit of 50 requests per minute.',
  },
  {
    kind: 'overloaded',
    code: 'server_error',
    status: 529,
    text: 'API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment.',
  },
  { kind: 'overloaded', code: 'overloaded', status: 529, text: '' },
  { kind: 'overloaded', code: 'server_error', status: 500, text: 'API Error: 500 Internal server error' },
  {
    kind: 'network',
    code: 'server_error',
    detail: 'connection_failed',
    text: 'API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)',
  },
  {
    kind: 'not-logged-in',
    code: 'authentication_failed',
    status: 401,
    text: 'Failed to authenticate. API Error: 401 OAuth token has expired. Please obtain a new token or refresh your existing token.',
  },
  {
    kind: 'no-model',
    code: 'authentication_failed',
    status: 403,
    text: 'Please run /login · API Error: 403 You do not have access to this model.',
  },
  {
    kind: 'no-model',
    code: 'invalid_request',
    status: 404,
    text: "There's an issue with the selected model (x-1). It may not exist or you may not have access to it. Run /model to pick a different model.",
  },
  {
    kind: 'not-logged-in',
    code: 'authentication_failed',
    status: 403,
    text: 'Please run /login · API Error: 403 OAuth token has been revoked',
  },
  { kind: 'no-credit', code: 'billing_error', status: 400, text: 'Credit balance is too low' },
  {
    kind: 'context-full',
    code: 'invalid_request',
    status: 400,
    text: 'Prompt is too long · the request is ~208310 tokens (limit 200000) but this conversation is only ~1537 tokens',
  },
  {
    kind: 'api-error',
    code: 'invalid_request',
    status: 400,
    text: 'API Error: 400 messages.1: the role is not known',
  },
  { kind: 'api-error', code: 'a_code_of_a_later_version', text: 'Something else.' },
];

describe('the kind of an error', () => {
  it.each(told)('$kind: $code $detail $status $text', ({ kind, ...error }) => {
    expect(troubleKindOf(error)).toBe(kind);
  });

  it('is not a usage limit just because the API’s text mentions one', () => {
    const text = "API Error: 400 the tool result says: You've hit your session limit · resets 9:35am (UTC)";
    expect(troubleKindOf({ code: 'invalid_request', status: 400, text })).toBe('api-error');
  });
});
