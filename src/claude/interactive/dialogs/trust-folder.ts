import { defineDialog } from './dialog.js';

/** `Accessing workspace: <dir>`: the first start in a directory. No hook fires for it. */
export const trustFolder = defineDialog({
  id: 'trust-folder',
  kind: 'trust',
  atStart: true,
  recognise: ({ heading, options }) => {
    const at = heading.findIndex((line) => /^Accessing workspace:?$/.test(line));
    if (at === -1 || !options.some((option) => /trust this folder/i.test(option.label))) return undefined;
    const folder = heading[at + 1] ?? '';
    return { input: { folder }, summary: `Trust the folder ${folder}` };
  },
  optionFor: { allow: /^Yes, I trust/i, allow_session: /^Yes, I trust/i, deny: /^No, exit/i },
});
