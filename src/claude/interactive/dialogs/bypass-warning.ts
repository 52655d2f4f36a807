import { defineDialog } from './dialog.js';

/** The warning before a session that skips all permissions. The bridge never asks for that mode; settings may. */
export const bypassWarning = defineDialog({
  id: 'bypass-warning',
  kind: 'prompt',
  atStart: true,
  recognise: ({ heading, options }) => {
    if (!heading.some((line) => /Bypass Permissions mode/i.test(line))) return undefined;
    if (!options.some((option) => /^Yes, I accept/i.test(option.label))) return undefined;
    return { input: {}, summary: 'Run Claude Code in Bypass Permissions mode' };
  },
  optionFor: { allow: /^Yes, I accept/i, allow_session: /^Yes, I accept/i, deny: /^No, exit/i },
});
