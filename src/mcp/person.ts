// Pure.
// What a tool asks the person at the client, where the client can show it (MCP elicitation).

/** One field of a form: a choice of values, or free text. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly isRequired: boolean;
  /** Values to choose from and how each is shown; without them the field takes text. */
  readonly choices?: readonly { readonly value: string; readonly title: string }[];
  /** True where several may be chosen; the answer joins them by `, `. */
  readonly isMultiple?: boolean;
}

export interface Form {
  readonly message: string;
  readonly fields: readonly FormField[];
}

/**
 * `later`: the person is asked now, and the same call comes again with the answer; what this run of it gives is not shown.
 * `declined`: a person said no. `unanswered`: closed, or no answer within the time.
 */
export type PersonAnswer =
  | {
      readonly kind: 'answered';
      readonly values: Readonly<Record<string, string>>;
      /** The names of values that came as lists; left out, none did. */
      readonly lists?: readonly string[];
    }
  | { readonly kind: 'declined' }
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'later' };

/** What becomes of an answer that comes after the call has been answered. */
export interface LateAnswer {
  /** How long an answer is of use, from now. */
  readonly limitMs: number;
  readonly onAnswer: (answer: PersonAnswer) => void;
}

export interface Person {
  /** Keys of the questions that an earlier run of this call asked, and that come with this one: answered or declined. */
  readonly answeredKeys: readonly string[];
  /**
   * `key` names the question; a form that is still open at the client is not shown again. Resolves at the latest after `timeoutMs`,
   * while the form stays open for a late answer.
   */
  ask(key: string, form: Form, timeoutMs: number, late: LateAnswer): Promise<PersonAnswer>;
  /** The question was answered on another way: its form, if one is open, is taken back. */
  close?(key: string): void;
}
