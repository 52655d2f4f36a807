// Pure: what a decision asks, as shown to the one who answers it.
import { countOf, headBytes } from '../../base/text/text.js';
import type { Decision } from '../../tasks/task.js';

/** What is shown of one request. */
const MAX_REQUEST_BYTES = 4_096;
/** Of the bytes that are left, a field takes at most one part of so many: the next ones are seen, too. */
const SHARES_LEFT = 2;

export interface RequestView {
  readonly request?: Record<string, string>;
  readonly cut?: string;
}

/** The fields of the request, at most `maxBytes` of them, and in words what is not shown. A question is shown as such. */
export function requestView(decision: Decision, taskId: string, maxBytes = MAX_REQUEST_BYTES): RequestView {
  const fields = Object.entries(decision.input);
  if (fields.length === 0 || (decision.questions ?? []).length > 0) return {};
  const request: Record<string, string> = {};
  let left = Math.min(maxBytes, MAX_REQUEST_BYTES);
  let missing = 0;
  for (const [index, [name, value]] of fields.entries()) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const isLast = index === fields.length - 1;
    const restBytes = Buffer.byteLength(JSON.stringify(fields.slice(index + 1)));
    // What follows gets what it needs, as far as that is no more than its part.
    const bytes = isLast ? left : left - Math.min(restBytes, Math.floor(left / SHARES_LEFT));
    const head = headBytes(text, Math.max(0, bytes));
    request[name] = head.length < text.length ? `${head}…` : head;
    missing += text.length - head.length;
    left -= Buffer.byteLength(head);
  }
  const isCut = missing > 0 || decision.input_is_cut === true;
  return { request, ...(isCut && { cut: cutWords(missing, decision.input_is_cut === true, taskId) }) };
}

function cutWords(missing: number, isKeptCut: boolean, taskId: string): string {
  const more = missing > 0 ? `${countOf(missing)} characters more: read tasks://${taskId}` : '';
  if (!isKeptCut) return more;
  const rest =
    'the request is longer than the bridge keeps, and its end is shown nowhere: deny it, or have a person look at the terminal (attach)';
  return more === '' ? rest : `${more}; ${rest}`;
}
