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
