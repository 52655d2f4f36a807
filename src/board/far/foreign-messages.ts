// Pure: the messages of the board of another machine, read within bounds.
import { z } from 'zod';
import { idOn, TASK_ID_PATTERN } from '../../base/ids.js';
import { isDeepJson, jsonOf } from '../../base/input.js';
import { BOARD_PROTOCOL, type ClientMessage, type ServerMessage, type ValuesMessage } from '../protocol.js';
import { isOne } from '../state.js';
import { foreignSchemas, type FarPlace } from './foreign-values.js';

/** A board of 500 tasks has some 2 MB, and the changes of a task 5 MB. */
const MAX_MESSAGE_CHARS = 16 * 1024 * 1024;
/** Of all channels of one connection, together. */
const MAX_VALUES = 20_000;
const MAX_VALUES_CHARS = 24 * 1024 * 1024;

const TOO_MUCH = 'Its board sent more than this one holds of a machine.';

const text = z.string();
const error = z.object({ code: text, message: text, hint: text });
const fields = z.custom<Readonly<Record<string, unknown>>>(isOne);
/** Where a file is over there says nothing here. */
const file = z.object({
  text: text.nullable(),
  path: text.nullable().transform(() => null),
  why: z.enum(['missing', 'binary', 'too_large']).nullable(),
});
const proposal = z.object({
  ...{ rules: z.array(text), rows: text, file: text, refusal: text.nullable(), notes: z.array(text) },
});
const place = z.int().nonnegative();
const piece = z.object({ file: text, from: place, to: place, follows: z.boolean(), text });
const log = z.object({ text, cursor: text, more: z.boolean() });

function messageSchema(machine: string) {
  const task_id = text
    .regex(TASK_ID_PATTERN)
    .transform((id) => idOn(machine, id))
    .exactOptional();
  const type = z.literal('result');
  const id = z.int().positive();
  const done = z.object({
    ...{ type, id, ok: z.literal(true), task_id, log: log.exactOptional(), file: file.exactOptional() },
    ...{ proposal: proposal.exactOptional(), piece: piece.exactOptional() },
  });
  return z.union([
    z.object({
      ...{ type: z.literal('welcome'), v: z.literal(BOARD_PROTOCOL), client: text.max(100) },
      ...{ version: text.max(100), home: text.max(4_096) },
    }),
    z.object({
      type: z.literal('values'),
      channel: text,
      whole: z.boolean(),
      set: fields,
      del: z.array(text),
    }),
    done,
    z.object({ type, id, ok: z.literal(false), error }),
    z.object({ type: z.literal('refused'), channel: text.exactOptional(), error }),
  ]);
}

/** What the other side sent is more than a board sends, or nothing that a board sends. */
export class ForeignFault extends Error {}

/** One connection to the board of another machine: what it says becomes messages whose ids name the machine. */
export class ForeignMessages {
  readonly #machine: string;
  readonly #schema: z.ZodType<ServerMessage>;
  readonly #schemas: ReturnType<typeof foreignSchemas>;
  /** How long each value is, by key, of the channels that are followed. */
  readonly #held = new Map<string, Map<string, number>>();

  constructor(machine: FarPlace) {
    this.#machine = machine.name;
    this.#schema = messageSchema(machine.name);
    this.#schemas = foreignSchemas(machine);
  }

  /** What this side says: only a channel that it follows has values. */
  sent(message: ClientMessage): void {
    if (message.type === 'subscribe') this.#held.set(message.channel, new Map());
    if (message.type === 'unsubscribe') this.#held.delete(message.channel);
  }

  /** Throws ForeignFault. */
  read(data: string): ServerMessage {
    if (data.length > MAX_MESSAGE_CHARS)
      throw new ForeignFault('Its board sent a message of more than 16 MB.');
    const message = this.#schema.safeParse(isDeepJson(Buffer.from(data)) ? undefined : jsonOf(data)).data;
    if (message === undefined)
      throw new ForeignFault('Its board sent what this version does not understand.');
    return message.type === 'values' ? this.#values(message) : message;
  }

  #values({ type, channel, whole, set, del }: ValuesMessage): ValuesMessage {
    if (Object.keys(set).length > MAX_VALUES) throw new ForeignFault(TOO_MUCH);
    const held = this.#held.get(channel);
    if (held === undefined) return { type, channel, whole, set: {}, del: [] };
    if (whole) held.clear();
    const read = Object.entries(set).flatMap(([key, value]) => this.#value(channel, key, value));
    // A task that is understood again; what the far side itself calls unreadable stands in `set`.
    const understood = read.flatMap(([key]) =>
      key.startsWith('task/') ? [key.replace('task/', 'unreadable/')] : [],
    );
    const shown = Object.fromEntries(read);
    const gone = [...del.map((key) => this.#keyHere(channel, key)), ...understood].filter(
      (key) => !Object.hasOwn(shown, key),
    );
    for (const key of gone) held.delete(key);
    for (const [key, value] of read) held.set(key, JSON.stringify(value).length);
    this.#checkSizes();
    return { type, channel, whole, set: shown, del: gone };
  }

  /** Empty for a key that is not known here: a newer board may have more of them. */
  #value(channel: string, key: string, value: unknown): readonly (readonly [string, unknown])[] {
    const [kind = '', channelId] = channel.split(':/');
    if (kind !== 'board' && kind !== 'task' && kind !== 'diff' && kind !== 'term') return [];
    for (const [pattern, schema] of this.#schemas[kind]) {
      const match = pattern.exec(key);
      if (match === null) continue;
      const taskId = match[1] ?? channelId ?? '';
      const read: unknown = schema.safeParse(value).data;
      const isOfOther =
        /^(?:task|decision)/.test(key) &&
        isOne<object>(read) &&
        'task_id' in read &&
        read.task_id !== idOn(this.#machine, taskId);
      if (read !== undefined && !isOfOther) return [[this.#keyHere(channel, key), read]];
      if (kind !== 'board') return [];
      const why = `What ${this.#machine} says of it is not understood: its bridge may be newer.`;
      return [[this.#keyHere(channel, `unreadable/${taskId}`), why]];
    }
    return [];
  }

  #keyHere(channel: string, key: string): string {
    return channel === 'board:/' ? key.replace('/', `/${this.#machine}/`) : key;
  }

  /** Throws ForeignFault where there is too much. */
  #checkSizes(): void {
    const sizes = [...this.#held.values()].flatMap((held) => [...held.values()]);
    const chars = sizes.reduce((sum, size) => sum + size, 0);
    if (sizes.length > MAX_VALUES || chars > MAX_VALUES_CHARS) throw new ForeignFault(TOO_MUCH);
  }
}
