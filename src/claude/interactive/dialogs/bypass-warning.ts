import { defineDialog } from './dialog.js';

/** The warning before a session that skips all permissions. The bridge never requests that mode, but settings may. */
export const bypassWarning = defineDialog({
  id: 'bypass-warning',
  kind: 'prompt',
  when: 'start',
  recognise: ({ heading, options, isCut }) => {
    if (isCut || !/^WARNING: .*Bypass Permissions mode/i.test(heading[0] ?? '')) return undefined;
    if (!options.some((option) => /^Yes, I accept/i.test(option.label))) return undefined;
    return { input: {}, summary: 'Run Claude Code in Bypass Permissions mode' };
  },
  optionFor: { allow: /^Yes, I accept/i, allow_session: /^Yes, I accept/i, deny: /^No, exit/i },
});
