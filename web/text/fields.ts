// Pure: values of which only the form is known.

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Empty for what is no text. */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** What is said of an answer. */
export const verdictWords: Readonly<Record<string, string>> = {
  allow: 'allowed',
  allow_session: 'allowed for the session',
  deny: 'denied',
  withdrawn: 'withdrawn',
};
