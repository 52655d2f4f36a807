import { Cancelled } from './exit-codes.js';

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint: string;
}

/** What a command asks a person. Each throws Cancelled at Ctrl-C. */
export interface Questions {
  /** A line of text; an empty one is an answer too. */
  text(message: string): Promise<string>;
  confirm(message: string, initial: boolean): Promise<boolean>;
  /** Which of the choices, all of which are chosen at first. */
  choose(message: string, choices: readonly Choice[]): Promise<readonly string[]>;
  /** One of the choices; at first it is the first one. */
  pick(message: string, choices: readonly Choice[]): Promise<string>;
  /** Why an answer cannot be used. */
  error(text: string): void;
}

/** The questions in the terminal; undefined without one for input and output. Their library is loaded for them alone. */
export async function terminalQuestions(): Promise<Questions | undefined> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined;
  const { confirm, isCancel, log, multiselect, select, text } = await import('@clack/prompts');
  const isAnswer = <T>(value: T): value is Exclude<T, symbol> => !isCancel(value);
  const given = async <T>(answer: Promise<T>): Promise<Exclude<T, symbol>> => {
    const value = await answer;
    if (isAnswer(value)) return value;
    throw new Cancelled();
  };
  return {
    text: (message) => given(text({ message, defaultValue: '' })),
    confirm: (message, initialValue) => given(confirm({ message, initialValue })),
    choose: (message, choices) => {
      const initialValues = choices.map(({ value }) => value);
      return given(multiselect({ message, options: [...choices], initialValues, required: false }));
    },
    pick: (message, choices) => given(select({ message, options: [...choices] })),
    error: (words) => log.error(words),
  };
}
