import { defineDialog } from './dialog.js';

/** `Accessing workspace: <dir>`: shown at the first start in a directory, without a hook. */
export const trustFolder = defineDialog({
  id: 'trust-folder',
  kind: 'trust',
  when: 'start',
  recognise: ({ heading, options, isCut }) => {
    if (isCut || !/^Accessing workspace:?$/.test(heading[0] ?? '')) return undefined;
    if (!options.some((option) => /trust this folder/i.test(option.label))) return undefined;
    const rest = heading.slice(1);
    const text = rest.findIndex((line) => /^Quick safety check/.test(line));
    // A long path takes several lines.
    const folder = rest.slice(0, text === -1 ? 1 : text).join('');
    return { input: { folder }, summary: `Trust the folder ${folder}` };
  },
  optionFor: { allow: /^Yes, I trust/i, allow_session: /^Yes, I trust/i, deny: /^No, exit/i },
});
