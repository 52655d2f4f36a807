// What a tool asks the person at the client, where the client can show it (MCP elicitation).
import {
  inputRequired,
  inputResponse,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { withinMs } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { systemClock } from '../base/system-clock.js';

/** One field of a form: a choice of values, or free text. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly isRequired: boolean;
  /** Values to choose from and how each is shown; without them the field takes text. */
  readonly choices?: readonly { readonly value: string; readonly title: string }[];
  /** True where several may be chosen; the answer joins them by `, `. */
  readonly isMultiple?: boolean;
}

export interface Form {
  readonly message: string;
  readonly fields: readonly FormField[];
}

/**
 * `later`: the person is asked now, and the same call comes again with the answer; what this run of it gives is not shown.
 * `declined`: a person said no. `unanswered`: closed, or no answer within the time.
 */
export type PersonAnswer =
  | {
      readonly kind: 'answered';
      readonly values: Readonly<Record<string, string>>;
      /** The names of values that came as lists; left out, none did. */
      readonly lists?: readonly string[];
    }
  | { readonly kind: 'declined' }
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'later' };

/** What becomes of an answer that comes after the call has been answered. */
export interface LateAnswer {
  /** How long an answer is of use, from now. */
  readonly limitMs: number;
  readonly onAnswer: (answer: PersonAnswer) => void;
}

export interface Person {
  /** Keys of the questions that an earlier run of this call asked, and that come with this one: answered or declined. */
  readonly answeredKeys: readonly string[];
  /**
   * `key` names the question; a form that is still open at the client is not shown again. Resolves at the latest after `timeoutMs`,
   * while the form stays open for a late answer.
   */
  ask(key: string, form: Form, timeoutMs: number, late: LateAnswer): Promise<PersonAnswer>;
  /** The question was answered on another way: its form, if one is open, is taken back. */
  close?(key: string): void;
}

/** One call's way to the person at the client. */
export interface CallPerson extends Person {
  /** What must be asked before the call can be answered; in the modern era it is the answer of this run of the call. */
  readonly needed?: InputRequiredResult | undefined;
}

/** The forms of the client of one connection, by the key of their question. */
export interface ClientForms {
  /** Those of the legacy era that are open. */
  readonly open: Map<string, { readonly answer: Promise<PersonAnswer>; readonly close: () => void }>;
  /** When those of the modern era were shown, as `performance.now()`. */
  readonly shownMs: Map<string, number>;
}

/** With less time than this before the call must be answered, the person is not asked. */
const MIN_ASK_MS = 5_000;
/** No person reads a form in less: such a no is of a client without a person (`codex exec` 0.169.0 and `copilot -p` 1.0.102). */
const MIN_READ_MS = 300;

/** Asked by a request of the server's own, while the call waits. */
export function legacyPerson({ mcpReq }: ServerContext, { open }: ClientForms, logger: Logger): CallPerson {
  const show = (key: string, form: Form, timeout: number): Promise<PersonAnswer> => {
    const closing = new AbortController();
    const params = { message: form.message, requestedSchema: formSchema(form) };
    const signal = AbortSignal.any([mcpReq.signal, closing.signal]);
    const shownMs = performance.now();
    const answer = mcpReq
      .send({ method: 'elicitation/create', params }, { timeout, signal })
      .then((result) => ofPerson(formAnswer(result), shownMs, performance.now()))
      .catch((thrown: unknown): PersonAnswer => {
        // The time is over, or the client cannot show the form: the question goes to the model instead.
        logger.debug('A person could not be asked', { error: messageOf(thrown) });
        return { kind: 'unanswered' };
      })
      .finally(() => open.delete(key));
    open.set(key, { answer, close: () => closing.abort() });
    return answer;
  };
  return {
    answeredKeys: [],
    ask: async (key, form, timeoutMs, late) => {
      if (timeoutMs < MIN_ASK_MS) return { kind: 'unanswered' };
      const answer = open.get(key)?.answer ?? show(key, form, Math.max(timeoutMs, late.limitMs));
      const inTime = await withinMs(systemClock, timeoutMs, answer);
      if (inTime !== undefined) return inTime;
      void answer.then(late.onAnswer);
      return { kind: 'unanswered' };
    },
    close: (key) => open.get(key)?.close(),
  };
}

/** Asked by the answer of the call, which the client then makes again with what the person said. */
export function modernPerson(
  { mcpReq: { inputResponses } }: ServerContext,
  { shownMs }: ClientForms,
): CallPerson {
  const arrivedMs = performance.now();
  let needed: InputRequiredResult | undefined;
  return {
    answeredKeys: Object.keys(inputResponses ?? {}),
    get needed() {
      return needed;
    },
    ask: async (key, form) => {
      const response = inputResponse(inputResponses, key);
      if (response.kind === 'elicit') {
        const shownAtMs = shownMs.get(key);
        shownMs.delete(key);
        return ofPerson(formAnswer(response), shownAtMs, arrivedMs);
      }
      shownMs.set(key, performance.now());
      needed ??= inputRequired({ inputRequests: { [key]: formRequest(form) } });
      return { kind: 'later' };
    },
  };
}

/** A no that comes quicker than a person reads is none. */
function ofPerson(said: PersonAnswer, shownMs: number | undefined, answeredMs: number): PersonAnswer {
  const isRead = shownMs === undefined || answeredMs - shownMs >= MIN_READ_MS;
  return said.kind === 'declined' && !isRead ? { kind: 'unanswered' } : said;
}

const valuesSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);
const responseSchema = z.object({ action: z.string(), content: z.unknown().optional() });

/** What a client sends for a form; anything else than an answer is none. It is not trusted to fit the form: the tool checks the values. */
export function formAnswer(response: unknown): PersonAnswer {
  const { action, content } = responseSchema.safeParse(response).data ?? {};
  if (action === 'decline') return { kind: 'declined' };
  const given = action === 'accept' ? valuesSchema.safeParse(content ?? {}).data : undefined;
  if (given === undefined) return { kind: 'unanswered' };
  const entries = Object.entries(given);
  const values = entries.map(
    ([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)] as const,
  );
  const lists = entries.flatMap(([name, value]) => (Array.isArray(value) ? [name] : []));
  return { kind: 'answered', values: Object.fromEntries(values), ...(lists.length > 0 && { lists }) };
}

/** The request of a form. */
export function formRequest(form: Form) {
  return inputRequired.elicit({ message: form.message, requestedSchema: formSchema(form) });
}

/** A flat form, as every client shows it. */
function formSchema({ fields }: Form) {
  return {
    type: 'object' as const,
    properties: Object.fromEntries(fields.map((field) => [field.name, propertyOf(field)])),
    required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  };
}

/** `enum` with `enumNames`, which clients of every revision show. */
function propertyOf({ title, description, choices, isMultiple }: FormField) {
  const shown = { title, ...(description !== undefined && { description }) };
  const words = { type: 'string' as const, ...shown };
  if (choices === undefined) return words;
  if (isMultiple === true) {
    const items = { anyOf: choices.map(({ value, title: label }) => ({ const: value, title: label })) };
    return { type: 'array' as const, ...shown, items };
  }
  return {
    ...words,
    enum: choices.map(({ value }) => value),
    enumNames: choices.map((choice) => choice.title),
  };
}
