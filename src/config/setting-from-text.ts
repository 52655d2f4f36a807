import type { SettingFacts } from './schema.js';

export type SettingFromText =
  { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'error'; readonly expected: string };

/** Reads a setting as an environment variable or a flag writes it. Pure; the schema checks the value. */
export function settingFromText(facts: SettingFacts, text: string): SettingFromText {
  if (text === '') return error(`${facts.expected}; unset it to use the default`);
  switch (facts.form) {
    case 'text':
      return value(text);
    case 'integer':
      // Not parseInt, which takes "10MB" as 10, nor Number, which takes "1e3" as 1000.
      return /^(?:0|-?[1-9][0-9]*)$/.test(text) ? value(Number(text)) : error(facts.expected);
    case 'yes or no':
      return text === 'true' || text === 'false' ? value(text === 'true') : error(facts.expected);
    case 'list':
      return list(text);
    case 'paths':
      // A folder's name may hold a comma, and no path begins with a bracket.
      return text.trimStart().startsWith('[') ? json(facts, text) : list(text);
    case 'list or all':
      return text.trim() === 'all' ? value('all') : list(text);
    case 'json':
      return json(facts, text);
  }
}

function list(text: string): SettingFromText {
  const parts = text.split(',').map((part) => part.trim());
  // An empty part would become the current folder, or a name that matches everything.
  return parts.includes('') ? error('a list separated by commas, without empty parts') : value(parts);
}

function json(facts: SettingFacts, text: string): SettingFromText {
  try {
    return value(JSON.parse(text));
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return error(facts.expected);
    throw thrown;
  }
}

function value(read: unknown): SettingFromText {
  return { kind: 'value', value: read };
}

function error(expected: string): SettingFromText {
  return { kind: 'error', expected };
}
