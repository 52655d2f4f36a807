// Pure: a way in that clients show as a slash command.
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { argumentErrors, wireSchema } from './schema.js';

/** Values of an argument that begin with `prefix`, best first. */
type Completion<Services> = (prefix: string, services: Services) => Promise<readonly string[]>;

export interface Prompt<Services> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Each is text, as clients know no other. */
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  readonly complete?: Readonly<Record<string, Completion<Services>>>;
  /** What the user says with it; what is required is there. Throws BridgeError when there is nothing to say it of. */
  text(args: Readonly<Record<string, string | undefined>>, services: Services): Promise<string>;
}

/** opencode (1.18.33) asks for a text with these in it, and puts there what the user types; into the last one all that is left. */
const PLACEHOLDER = /^\$\d+$/;

/**
 * The text of a prompt. Values that say nothing are left out: clients show a field for every argument, and send what was left empty as
 * empty text. A placeholder stands only for an argument that must be there, so that all that the user types comes to it. Throws
 * BridgeError: INVALID_ARGUMENTS, or what the prompt throws.
 */
export async function promptText<Services>(
  prompt: Prompt<Services>,
  args: Readonly<Record<string, string>>,
  services: Services,
): Promise<string> {
  const optional = new Set(prompt.arguments.flatMap(({ name, required }) => (required ? [] : [name])));
  const given = Object.fromEntries(
    Object.entries(args).filter(
      ([name, value]) => value.trim() !== '' && !(PLACEHOLDER.test(value) && optional.has(name)),
    ),
  );
  const shape = prompt.arguments.map(({ name, required }) => [
    name,
    required ? z.string() : z.string().optional(),
  ]);
  const schema: z.ZodObject = z.strictObject(Object.fromEntries(shape));
  const { error } = schema.safeParse(given);
  if (error === undefined) return prompt.text(given, services);
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `Invalid arguments for the prompt ${prompt.name}: ${argumentErrors(error, given, wireSchema(schema, 'input'))}`,
    'Correct these arguments and request the prompt again.',
  );
}
