import type { Questions } from './questions.js';

/** How `init` speaks with the person. */
export interface InitIo {
  /** One or more lines for the person. */
  write(text: string): void;
  /** One or more lines about an error. */
  writeError(text: string): void;
  /** Undefined when there is no terminal to ask on. */
  readonly questions: Questions | undefined;
}
