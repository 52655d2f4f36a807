import { defineDialog } from './dialog.js';

/** `Detected a custom API key in your environment`: whose account pays is for the person to say. */
export const apiKey = defineDialog({
  id: 'api-key',
  kind: 'prompt',
  atStart: true,
  recognise: ({ heading }) => {
    if (!heading.some((line) => /^Detected a custom API key in your environment/.test(line)))
      return undefined;
    const key = heading.find((line) => line.startsWith('ANTHROPIC_API_KEY')) ?? '';
    return { input: { key }, summary: 'Use the API key found in the environment' };
  },
  optionFor: { allow: /^Yes/i, allow_session: /^Yes/i, deny: /^No/i },
});
