// Pure.
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { isObject, type JsonObject } from './answers.js';
import type { Person } from './person.js';
import { argumentErrors, wireSchema } from './schema.js';

/** Of a tool that no model sees. */
export const ONLY_APPS = { visibility: ['app'] };

/** What a tool does to the world; MCP annotations follow from it. */
export type Effect = 'read' | 'write' | 'destroy';

/** The call in which a tool runs. */
export interface ToolCall {
  /** Aborts when the client cancelled the call or is gone. */
  readonly signal: AbortSignal;
  /** Sends progress to the client if it asked for that. The last message may be lost, so nothing is reported only here. */
  readonly progress: (text: string) => void;
  /** The default page of a text, where the client cuts larger ones. */
  readonly pageBytes?: number | undefined;
  /** What the client calls itself. */
  readonly clientName?: string | undefined;
  /** The person at the client; undefined when the client cannot show a form. */
  readonly person?: Person | undefined;
  /** What the client follows without its model; undefined for a call whose client does not. */
  readonly follower?: Follower | undefined;
}

/** A client that follows tasks, for one call. */
export interface Follower {
  follows(taskId: string): boolean;
  /** The call is answered by this task: the client follows it from now on, and what the handler returns is not shown. */
  follow(taskId: string): void;
}

/** What a tool says of itself, beside its schemas. */
interface ToolFacts {
  readonly name: string;
  readonly title: string;
  readonly effect: Effect;
  /** True when a second equal call changes nothing more. */
  readonly idempotent?: boolean;
  /** True when the tool acts beyond this machine's files and processes: it starts or steers an agent. */
  readonly openWorld?: boolean;
  /** What the model reads; short, it is paid for in every conversation. */
  readonly description: string;
  /** Words by which a client finds the tool that lists its tools only when they are searched. */
  readonly searchHint?: string;
  /** True for a tool that such a client should list at once. */
  readonly alwaysLoad?: boolean;
  /** The most characters that a client may show of an answer, where the caller can ask for much. */
  readonly maxResultChars?: number;
  /** The URI of the page that a client shows in the chat when a model calls the tool; clients that show none see nothing of it. */
  readonly page?: string;
  /** Who calls it where no model does, nor sees it: such a page, or hooks of Claude Code, whose answer is JSON text alone. */
  readonly caller?: 'page' | 'hooks';
}

export interface ToolDefinition<
  Services,
  Input extends z.ZodRawShape,
  Output extends z.ZodRawShape,
> extends ToolFacts {
  /** Names that callers give an argument, and its own: understood, and not listed. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly input: Input;
  /** An answer has these fields alone, in this order. */
  readonly output: Output;
  /** Takes and gives fields by the names that services have for them, or by those of the schemas: `maxBytes` for `max_bytes`. */
  handle(
    args: InCamelCase<z.output<z.ZodObject<Input>>>,
    services: Services,
    call: ToolCall,
  ): Promise<Shown<z.input<z.ZodObject<Output>>> | InCamelCase<Shown<z.input<z.ZodObject<Output>>>>>;
}

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;
export type InCamelCase<T> = {
  readonly [Name in keyof T as Name extends string ? Camel<Name> : never]: T[Name];
};

/** The same with lists that need not be writable. */
type Shown<T> = T extends readonly (infer Item)[]
  ? readonly Shown<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Shown<T[Name]> }
    : T;

/** What is known of a tool before it is loaded. */
export interface ListedTool {
  readonly name: string;
  readonly page?: string | undefined;
  readonly caller?: ToolFacts['caller'] | undefined;
  /** What `tools/list` shows of the tool. */
  readonly listing: ToolListing;
}

/** A tool as the server holds it: its schemas are closed over, so that no caller needs to know their types. */
export interface Tool<Services> extends ListedTool {
  /** Throws BridgeError: INVALID_ARGUMENTS, or what the handler throws. */
  readonly run: (args: unknown, services: Services, call: ToolCall) => Promise<JsonObject>;
}

/** A schema of objects that a handler makes: clients see that they are objects, and what is in them is not checked once more. */
export function made<T extends object>() {
  return z.custom<T>().meta({ type: 'object' });
}

/** Makes the function by which tools of one set of services are defined. */
export function toolDefiner<Services>() {
  return <Input extends z.ZodRawShape, Output extends z.ZodRawShape>(
    definition: ToolDefinition<Services, Input, Output>,
  ): Tool<Services> => {
    const input = z.strictObject(definition.input);
    const output = z.object(definition.output);
    const { name, page, caller } = definition;
    return {
      name,
      page,
      caller,
      // Made when asked for.
      get listing() {
        return listingOf(definition, input, output);
      },
      run: async (args, services, call) => {
        const given = underOwnNames(args, definition.aliases ?? {});
        const parsed = input.safeParse(given);
        if (!parsed.success) {
          throw new BridgeError(
            'INVALID_ARGUMENTS',
            `Invalid arguments for ${name}: ${argumentErrors(parsed.error, given, wireSchema(input, 'input'))}`,
            'Correct these arguments and call again.',
          );
        }
        const answer: object = await definition.handle(inCamelCase(parsed.data), services, call);
        return output.parse(underNames(answer, Object.keys(definition.output)));
      },
    };
  };
}

export type ToolListing = ReturnType<typeof listingOf>;

function listingOf(facts: ToolFacts, input: z.ZodObject, output: z.ZodObject) {
  const { name, title, description } = facts;
  const meta = metaOf(facts);
  return {
    name,
    title,
    description,
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(output, 'output'),
    annotations: annotationsOf(facts),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

/** Read by Claude Code; other clients ignore it. */
function metaOf({ maxResultChars, searchHint, alwaysLoad, caller }: ToolFacts): JsonObject {
  return {
    ...(maxResultChars !== undefined && { 'anthropic/maxResultSizeChars': maxResultChars }),
    ...(searchHint !== undefined && { 'anthropic/searchHint': searchHint }),
    ...(alwaysLoad === true && { 'anthropic/alwaysLoad': true }),
    // Claude Code shows its model no tool of this kind, and calls it for a hook all the same.
    ...(caller === 'hooks' && { ui: ONLY_APPS }),
  };
}

/** Both hints in the middle mean something only for a tool that changes the world. */
function annotationsOf({ effect, idempotent, openWorld = false }: ToolFacts) {
  return {
    readOnlyHint: effect === 'read',
    ...(effect !== 'read' && { destructiveHint: effect === 'destroy' }),
    ...(effect !== 'read' && idempotent === true && { idempotentHint: true }),
    openWorldHint: openWorld,
  };
}

/**
 * Some clients send null for an optional argument that they leave out. An argument that is given by both names stays as it is: the check
 * names the unknown one.
 */
function underOwnNames(args: unknown, aliases: Readonly<Record<string, string>>): unknown {
  const given = args ?? {};
  if (!isObject(given)) return given;
  const fields = Object.entries(given).filter(([, value]) => value !== null);
  const names = new Set(fields.map(([name]) => name));
  const own = (name: string): string => {
    const meant = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
    return meant === undefined || names.has(meant) ? name : meant;
  };
  return Object.fromEntries(fields.map(([name, value]) => [own(name), value]));
}

function camelOf(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

function inCamelCase<T extends object>(args: T): InCamelCase<T>;
function inCamelCase(args: object): object {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [camelOf(name), value]));
}

function underNames(answer: object, names: readonly string[]): JsonObject {
  const own = new Map(names.map((name) => [camelOf(name), name]));
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [own.get(name) ?? name, value]));
}
