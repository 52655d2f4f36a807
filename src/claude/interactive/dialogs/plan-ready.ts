import { defineDialog } from './dialog.js';

/** `Exit plan mode?` and `Ready to code?`: the plan is done and the agent wants to begin. */
export const planReady = defineDialog({
  id: 'plan-ready',
  kind: 'plan',
  atStart: false,
  recognise: ({ heading, options }) => {
    if (!heading.some((line) => /^(Exit plan mode\?|Ready to code\?)/.test(line))) return undefined;
    if (!/^Yes/.test(options[0]?.label ?? '')) return undefined;
    const plan = heading.filter(
      (line) =>
        !/^(Exit plan mode\?|Ready to code\?|Claude wants to exit plan mode|Would you like)/.test(line),
    );
    return { input: { plan: plan.join('\n') }, summary: 'Leave plan mode and begin' };
  },
  optionFor: {
    allow: /^Yes(?!.*(auto|accept edits|bypass))/i,
    allow_session: /^Yes(?!.*(auto|accept edits|bypass))/i,
    deny: /^No\b/i,
  },
});
