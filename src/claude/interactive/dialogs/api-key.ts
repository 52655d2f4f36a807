import { defineDialog } from './dialog.js';

/** `Detected a custom API key in your environment`: a person must decide whose account pays. */
export const apiKey = defineDialog({
  id: 'api-key',
  kind: 'prompt',
  when: 'start',
  recognise: ({ heading, isCut }) => {
    if (isCut || !/^Detected a custom API key in your environment/.test(heading[0] ?? '')) return undefined;
    const key = heading.find((line) => line.startsWith('ANTHROPIC_API_KEY')) ?? '';
    return { input: { key }, summary: 'Use the API key found in the environment' };
  },
  optionFor: { allow: /^Yes$/i, allow_session: /^Yes$/i, deny: /^No\b/i },
});
