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
