import { oneLine } from '../../../base/text/text.js';
import { defineDialog } from './dialog.js';

const FILES_CHARS = 1_000;

/** `Allow external CLAUDE.md file imports?`: Claude Code stores the answer for the project. */
export const externalImports = defineDialog({
  id: 'external-imports',
  kind: 'prompt',
  when: 'start',
  recognise: ({ heading, options, isCut }) => {
    if (isCut || !/^Allow external CLAUDE\.md file imports\?$/.test(heading[0] ?? '')) return undefined;
    if (!options.some((option) => /^Yes, allow external imports$/.test(option.label))) return undefined;
    const from = heading.findIndex((line) => /^External imports:$/.test(line));
    const to = heading.findIndex((line) => /^Important:/.test(line));
    const files = oneLine(heading.slice(from + 1, to).join(' '), FILES_CHARS);
    return { input: { files }, summary: `Let CLAUDE.md import files from outside of the project: ${files}` };
  },
  optionFor: { allow: /^Yes, allow/, allow_session: /^Yes, allow/, deny: /^No, disable/ },
});
