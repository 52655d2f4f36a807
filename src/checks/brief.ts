// Pure: what a caller gives a task beside its prompt: what was decided, and the checks that show whether the work is done.
import { z } from 'zod';
import { shellWord } from '../base/text.js';
import { isWithin } from '../projects/path-in-project.js';

const MAX_TEXT_CHARS = 2_000;
const MAX_ITEMS = 50;
const MAX_CHECKS = 10;
const MAX_NAME_CHARS = 80;
const MAX_COMMAND_CHARS = 4_000;
const MAX_GLOBS = 20;
/** A check may take as long as a task. */
const MAX_CHECK_SECONDS = 14_400;
/** A test suite of some size; a call that needs more says so. */
const DEFAULT_CHECK_SECONDS = 600;
/** Stands for one file in `each`, also in quotes of its own. */
const FILE_PLACE = '{file}';
const FILE_PLACES = /(["']?)\{file\}\1/g;
/** How often at most what was not met goes back to the session. */
export const MAX_ROUNDS = 10;

const text = z.string().trim().min(1).max(MAX_TEXT_CHARS);
const texts = z.array(text).max(MAX_ITEMS);

/** What a task is about, for its agent and for whoever reads its result later. */
export const briefSchema = z.strictObject({
  goal: text.optional(),
  decided: texts.optional(),
  constraints: texts.optional(),
  /** Files that the work is about: others that it changes are listed. */
  files: texts.optional(),
});
export type Brief = z.infer<typeof briefSchema>;

const command = z
  .string()
  .trim()
  .min(1)
  .max(MAX_COMMAND_CHARS)
  .refine((line) => !line.includes('\0'), 'a command without NUL characters');

/** A command line of the shell that says by its exit code whether the work is done: 0 means it is met. */
export const checkSchema = z.strictObject({
  name: z
    .string()
    .trim()
    .max(MAX_NAME_CHARS)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]+$/u, 'a name on one line'),
  command,
  timeout_seconds: z.int().min(1).max(MAX_CHECK_SECONDS).default(DEFAULT_CHECK_SECONDS),
  /** Patterns of test files, as in a .gitignore, relative to the project. */
  tests: z.array(text).max(MAX_GLOBS).optional(),
  /** The command for one of these files, for which it has `{file}`. */
  each: command.refine((line) => line.includes(FILE_PLACE), `a command with ${FILE_PLACE}`).optional(),
  /** What a clean folder needs before the check can run. */
  setup: command.optional(),
});
export type Check = z.infer<typeof checkSchema>;

/** At most ten, each with a name of its own. */
export const checksSchema = z
  .array(checkSchema)
  .max(MAX_CHECKS)
  .superRefine((checks, context) => {
    for (const [at, { name }] of checks.entries())
      if (checks.findIndex((one) => one.name === name) < at)
        context.addIssue({
          code: 'custom',
          message: `names of their own, and two checks have the name ${JSON.stringify(name)}`,
        });
  });

/** The checks that are set for a project, by its real path: those for the nearest folder. */
export function checksIn(
  project: string,
  folders: Readonly<Record<string, readonly Check[]>>,
): readonly Check[] | undefined {
  const around = Object.keys(folders).filter((folder) => isWithin(project, folder));
  const [nearest] = around.sort((one, other) => other.length - one.length);
  return nearest === undefined ? undefined : folders[nearest];
}

/** The command `each` for one file. A name of plain characters stands as it is, in quotes or not. */
export function withFile(each: string, file: string): string {
  const word = shellWord(file.startsWith('-') ? `./${file}` : file, '/');
  return word.startsWith("'") ? each.replaceAll(FILE_PLACES, () => word) : each.replaceAll(FILE_PLACE, word);
}

/** What an agent is given: the prompt, then the brief and the commands of the checks. */
export function promptWith(prompt: string, brief: Brief | undefined, checks: readonly Check[]): string {
  const lines = checks.map(({ name, command: line }) => `- ${name}: ${line}`).join('\n');
  const asked = `When you say that the work is done, these commands are run, and each must exit with 0:\n${lines}`;
  return [prompt, briefText(brief), lines === '' ? '' : asked].filter((part) => part !== '').join('\n\n');
}

/** The brief as lines of Markdown; empty for one that says nothing. */
export function briefText({ goal, decided = [], constraints = [], files = [] }: Brief = {}): string {
  const lists = Object.entries({ Decided: decided, Constraints: constraints, Files: files });
  return [
    ...(goal === undefined ? [] : [`Goal: ${goal}`]),
    ...lists
      .filter(([, items]) => items.length > 0)
      .map(([title, items]) => [`${title}:`, ...items.map((item) => `- ${item}`)].join('\n')),
  ].join('\n\n');
}
