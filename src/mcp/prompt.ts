// Pure.
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { argumentErrors } from './argument-errors.js';

/** Values of an argument that begin with `prefix`, best first. */
type Completion<Services> = (prefix: string, services: Services) => Promise<readonly string[]>;

export interface PromptDefinition<Services, Input extends z.ZodRawShape> {
  /** Clients show it as a slash command. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Called when first needed: a start builds no schemas. Every value is text on the wire. */
  input(): Input;
  readonly complete?: Readonly<Record<string, Completion<Services>>>;
  /** What the user says with it. Throws BridgeError when there is nothing to say it of. */
  text(args: z.output<z.ZodObject<Input>>, services: Services): Promise<string>;
}

/** A prompt as the server holds it: its schema is closed over, so that no caller needs to know its type. */
export interface Prompt<Services> {
  readonly name: string;
  /** What `prompts/list` shows of the prompt; made when first asked for. */
  listing(): PromptListing;
  /** Throws BridgeError: INVALID_ARGUMENTS, or what the prompt throws. */
  text(args: Readonly<Record<string, string>>, services: Services): Promise<string>;
  /** Values of an argument, none for one that cannot be completed; undefined when there is no such argument. */
  complete(argument: string, prefix: string, services: Services): Promise<readonly string[]> | undefined;
}

export interface PromptListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: { readonly name: string; readonly description?: string; readonly required: boolean }[];
}

/** Makes the function by which prompts over one set of services are defined. */
export function promptDefiner<Services>() {
  return <Input extends z.ZodRawShape>(definition: PromptDefinition<Services, Input>): Prompt<Services> => {
    const { name, title, description } = definition;
    let built: z.ZodObject<Input> | undefined;
    const schema = (): z.ZodObject<Input> => (built ??= z.strictObject(definition.input()));
    const listing = (): PromptListing => ({ name, title, description, arguments: wireArguments(schema()) });
    return {
      name,
      listing,
      text: async (args, services) => {
        const given = whatWasGiven(args, listing());
        const parsed = schema().safeParse(given);
        if (parsed.success) return definition.text(parsed.data, services);
        // Errors are explained by this: arguments of prompts are texts.
        const names = Object.keys(schema().shape).map((argument) => [argument, { type: 'string' }] as const);
        const properties: Readonly<Record<string, unknown>> = Object.fromEntries(names);
        throw new BridgeError(
          'INVALID_ARGUMENTS',
          `Invalid arguments for the prompt ${name}: ${argumentErrors(parsed.error, given, { type: 'object', properties })}`,
          'Correct these arguments and request the prompt again.',
        );
      },
      complete: (argument, prefix, services) => {
        if (!Object.hasOwn(schema().shape, argument)) return undefined;
        return definition.complete?.[argument]?.(prefix, services) ?? Promise.resolve([]);
      },
    };
  };
}

function wireArguments(schema: z.ZodObject): PromptListing['arguments'] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description } = z.globalRegistry.get(field) ?? {};
    const required = !z.safeParse(field, undefined).success;
    return { name, ...(description !== undefined && { description }), required };
  });
}

/** opencode (1.18.33) asks for a text with these in it, and puts there what the user types; into the last one all that is left. */
const PLACEHOLDER = /^\$\d+$/;

/**
 * Without values that say nothing: clients show a field for every argument, and send what was left empty as empty text. A
 * placeholder stands only for an argument that must be there, so that all that the user types comes to it.
 */
function whatWasGiven(
  args: Readonly<Record<string, string>>,
  { arguments: known }: PromptListing,
): Record<string, string> {
  const isOptional = (name: string): boolean => known.some((one) => one.name === name && !one.required);
  const given = Object.entries(args).filter(
    ([name, value]) => value.trim() !== '' && !(PLACEHOLDER.test(value) && isOptional(name)),
  );
  return Object.fromEntries(given);
}
