import {
  inputRequired,
  inputResponse,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { withinMs } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { systemClock } from '../base/system-clock.js';
import { Client } from './client.js';
import type { Form, FormField, LateAnswer, Person, PersonAnswer } from './person.js';

const valuesSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
);

/** A person who has less time than this to read and answer, before the call must be answered, is not asked. */
const MIN_ASK_MS = 5_000;
/** No person reads a form in less: such a no is of a client without a person (`codex exec` 0.169.0 and `copilot -p` 1.0.102). */
const MIN_READ_MS = 300;

/** Asks by a request of the server's own; rejects after `timeoutMs`. */
type Elicit = (
  params: { readonly message: string; readonly requestedSchema: ReturnType<typeof formSchema> },
  timeoutMs: number,
  closed: AbortSignal,
) => Promise<{ readonly action: string; readonly content?: unknown }>;

/** One call's way to the person at the client. */
export interface CallPerson extends Person {
  /** What must be asked before the call can be answered; in the modern era it is the answer of this run of the call. */
  readonly needed: InputRequiredResult | undefined;
}

/** The forms of the client of one connection, by the key of their question. */
export interface ClientForms {
  /** Those of the legacy era that are open. */
  readonly open: Map<string, { readonly answer: Promise<PersonAnswer>; readonly close: () => void }>;
  /** When those of the modern era were shown, as `performance.now()`. */
  readonly shownMs: Map<string, number>;
}

/** Undefined when the client did not declare that it can show forms. */
export function personAt(
  server: Server,
  context: ServerContext,
  forms: ClientForms,
  logger: Logger,
): CallPerson | undefined {
  const client = new Client(server, context);
  if (!client.showsForms) return undefined;
  if (client.isModern) return new ModernPerson(context, forms.shownMs);
  const { mcpReq } = context;
  return new LegacyPerson(
    (params, timeout, closed) =>
      mcpReq.send(
        { method: 'elicitation/create', params },
        { timeout, signal: AbortSignal.any([mcpReq.signal, closed]) },
      ),
    forms.open,
    logger,
  );
}

/** Asked by a request of the server's own, while the call waits. */
class LegacyPerson implements CallPerson {
  readonly needed = undefined;
  readonly answeredKeys: readonly string[] = [];
  readonly #elicit: Elicit;
  readonly #openForms: ClientForms['open'];
  readonly #logger: Logger;

  constructor(elicit: Elicit, openForms: ClientForms['open'], logger: Logger) {
    this.#elicit = elicit;
    this.#openForms = openForms;
    this.#logger = logger;
  }

  async ask(key: string, form: Form, timeoutMs: number, late: LateAnswer): Promise<PersonAnswer> {
    if (timeoutMs < MIN_ASK_MS) return { kind: 'unanswered' };
    const answer =
      this.#openForms.get(key)?.answer ?? this.#show(key, form, Math.max(timeoutMs, late.limitMs));
    const inTime = await withinMs(systemClock, timeoutMs, answer);
    if (inTime !== undefined) return inTime;
    void answer.then(late.onAnswer);
    return { kind: 'unanswered' };
  }

  close(key: string): void {
    this.#openForms.get(key)?.close();
  }

  #show(key: string, form: Form, limitMs: number): Promise<PersonAnswer> {
    const closing = new AbortController();
    const params = { message: form.message, requestedSchema: formSchema(form) };
    const shownMs = performance.now();
    const answer = this.#elicit(params, limitMs, closing.signal)
      .then((result) => ofPerson(formAnswer(result), shownMs, performance.now()))
      .catch((thrown: unknown): PersonAnswer => {
        // The time is over, or the client cannot show the form: the question goes to the model instead.
        this.#logger.debug('A person could not be asked', { error: messageOf(thrown) });
        return { kind: 'unanswered' };
      })
      .finally(() => this.#openForms.delete(key));
    this.#openForms.set(key, { answer, close: () => closing.abort() });
    return answer;
  }
}

/** Asked by the answer of the call, which the client then makes again with what the person said. */
class ModernPerson implements CallPerson {
  readonly #context: ServerContext;
  readonly #shownMs: ClientForms['shownMs'];
  readonly #arrivedMs = performance.now();
  #needed: InputRequiredResult | undefined;

  constructor(context: ServerContext, shownMs: ClientForms['shownMs']) {
    this.#context = context;
    this.#shownMs = shownMs;
  }

  get answeredKeys(): readonly string[] {
    return Object.keys(this.#context.mcpReq.inputResponses ?? {});
  }

  get needed(): InputRequiredResult | undefined {
    return this.#needed;
  }

  async ask(key: string, form: Form): Promise<PersonAnswer> {
    const response = inputResponse(this.#context.mcpReq.inputResponses, key);
    if (response.kind === 'elicit') {
      const shownMs = this.#shownMs.get(key);
      this.#shownMs.delete(key);
      return ofPerson(formAnswer(response), shownMs, this.#arrivedMs);
    }
    this.#shownMs.set(key, performance.now());
    this.#needed ??= inputRequired({
      inputRequests: {
        [key]: inputRequired.elicit({ message: form.message, requestedSchema: formSchema(form) }),
      },
    });
    return { kind: 'later' };
  }
}

/** A no that comes quicker than a person reads is none. */
function ofPerson(said: PersonAnswer, shownMs: number | undefined, answeredMs: number): PersonAnswer {
  const isRead = shownMs === undefined || answeredMs - shownMs >= MIN_READ_MS;
  return said.kind === 'declined' && !isRead ? { kind: 'unanswered' } : said;
}

const responseSchema = z.object({ action: z.string(), content: z.unknown().optional() });

/** What a client sends for a form; anything else than an answer is none. */
export function formAnswer(response: unknown): PersonAnswer {
  const { data } = responseSchema.safeParse(response);
  if (data?.action === 'accept') return answered(data.content ?? {});
  return { kind: data?.action === 'decline' ? 'declined' : 'unanswered' };
}

/** What the client sends is not trusted to fit the form: the tool checks the values. */
function answered(content: unknown): PersonAnswer {
  const { data } = valuesSchema.safeParse(content);
  if (data === undefined) return { kind: 'unanswered' };
  const values = Object.entries(data).map(
    ([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)] as const,
  );
  const lists = Object.keys(data).filter((name) => Array.isArray(data[name]));
  return { kind: 'answered', values: Object.fromEntries(values), ...(lists.length > 0 && { lists }) };
}

/** A flat form, as every client shows it. */
export function formSchema({ fields }: Form) {
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
