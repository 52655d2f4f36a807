import type { ClientPlace } from '../../clients/chat-client.js';
import type { ServerCommand } from '../../clients/server-command.js';

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint: string;
}

/** What `init` asks a person; every answer is undefined once the person pressed Ctrl-C. */
export interface Questions {
  /** A line of text; an empty one is an answer too. */
  text(message: string): Promise<string | undefined>;
  confirm(message: string, initial: boolean): Promise<boolean | undefined>;
  /** Which of the choices, all of which are chosen at first. */
  choose(message: string, choices: readonly Choice[]): Promise<readonly string[] | undefined>;
  /** One of the choices; at first it is the first one. */
  pick(message: string, choices: readonly Choice[]): Promise<string | undefined>;
  /** Why an answer cannot be used. */
  error(text: string): void;
}

/** How `init` speaks with the person. */
export interface InitIo {
  /** One or more lines for the person. */
  write(text: string): void;
  /** One or more lines about an error. */
  writeError(text: string): void;
  /** Undefined when there is no terminal to ask on. */
  readonly questions: Questions | undefined;
}

/** What `init` is run with. */
export interface InitOptions {
  readonly io: InitIo;
  readonly homeDir: string;
  readonly platform: NodeJS.Platform;
  readonly cwd: string;
  /** The settings file of `--config`, as an absolute path. */
  readonly configPath?: string;
  /** Names the folders of clients, and programs by PATH; without PATH, init does not mention the sandbox. */
  readonly env?: ClientPlace['env'];
  /** How a person runs this installation; the plain name unless given. */
  readonly command?: string;
  /** How clients start the server. */
  readonly serverCommand: ServerCommand;
  /** `--roots`: folders separated by commas, instead of the question; they are added to the existing ones. */
  readonly roots?: string | undefined;
  /** `--client`: ids of clients that get the entry without a question; `all` is every one that is installed. */
  readonly client?: readonly string[] | undefined;
  /** `--yes`: replaces another entry without a question, and asks no other question. */
  readonly yes?: boolean | undefined;
  /** `--remove`: removes the entries instead. */
  readonly remove?: boolean | undefined;
  /** `--print`: shows the entry for that client instead. */
  readonly print?: string | undefined;
}

/** The person pressed Ctrl-C. */
export class Cancelled extends Error {}

/** The answer. Throws Cancelled where there is none. */
export async function given<T>(answer: Promise<T | undefined>): Promise<T> {
  const value = await answer;
  if (value === undefined) throw new Cancelled();
  return value;
}

/** The questions in a terminal. Their library is loaded for them alone. */
export async function terminalQuestions(): Promise<Questions> {
  const { confirm, isCancel, log, multiselect, select, text } = await import('@clack/prompts');
  return {
    text: async (message) => {
      const answer = await text({ message, defaultValue: '' });
      return isCancel(answer) ? undefined : answer;
    },
    confirm: async (message, initial) => {
      const answer = await confirm({ message, initialValue: initial });
      return isCancel(answer) ? undefined : answer;
    },
    choose: async (message, choices) => {
      const options = choices.map((choice) => ({ ...choice }));
      const initialValues = choices.map(({ value }) => value);
      const answer = await multiselect({ message, options, initialValues, required: false });
      return isCancel(answer) ? undefined : answer;
    },
    pick: async (message, choices) => {
      const answer = await select({ message, options: choices.map((choice) => ({ ...choice })) });
      return isCancel(answer) ? undefined : answer;
    },
    error: (words) => log.error(words),
  };
}
