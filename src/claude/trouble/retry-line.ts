// Pure: parses the line in which the CLI announces that it will retry the API.
import type { TroubleKind } from '../session.js';
import { troubleKindOf } from './trouble-kind.js';

/** `API error · Retrying in 4s · attempt 4/10`, `529 Overloaded · retrying in 1m 2s · attempt 3/10`. */
const retryPattern = /^(.*?) · [Rr]etrying in (?:(\d{1,3})m ?)?(?:(\d{1,6})s)?.*\battempt (\d+)\/\d+/u;
const statusPattern = /^(\d{3})\b/;

export interface RetryLine {
  readonly kind: TroubleKind;
  readonly delayMs: number;
  readonly attempt: number;
}

/** Parses a line that `readRetryNotice` found; undefined for another form. */
export function readRetryLine(line: string): RetryLine | undefined {
  const match = retryPattern.exec(line);
  if (match === null) return undefined;
  const [, text = '', minutes = '0', seconds = '0', attempt = ''] = match;
  const status = statusPattern.exec(text)?.[1];
  return {
    kind: troubleKindOf({ text, ...(status !== undefined && { status: Number(status) }) }),
    delayMs: (Number(minutes) * 60 + Number(seconds)) * 1_000,
    attempt: Number(attempt),
  };
}
