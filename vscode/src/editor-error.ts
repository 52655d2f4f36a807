import type { EditorErrorCode } from '../../src/editor/protocol.js';

/** Why a request was not done: `message` says what is so, `hint` what to do. */
export class EditorError extends Error {
  readonly code: EditorErrorCode;
  readonly hint: string;
  /** Where the output of a command that failed is. */
  readonly range: { readonly from: number; readonly cursor: number } | undefined;

  constructor(
    code: EditorErrorCode,
    message: string,
    hint: string,
    range?: { readonly from: number; readonly cursor: number },
  ) {
    super(message);
    this.name = 'EditorError';
    this.code = code;
    this.hint = hint;
    this.range = range;
  }
}
