import { defineDialog } from './dialog.js';

const withoutText = 'Exit plan mode?';
const withText = 'Ready to code?';
const question = /^Claude has written up a plan and is ready to execute\./;
/** `Yes, and switch to accept edits (…)`, `Yes, auto-accept edits`. */
export const ACCEPTS_EDITS = /^Yes\b.*\baccept edits\b/i;
const own = /^(Exit plan mode\?|Ready to code\?|Here is Claude's plan:|Claude wants to exit plan mode)$/;

/** `Exit plan mode?` and `Ready to code?`: the plan is done and the agent wants to start. */
export const planReady = defineDialog({
  id: 'plan-ready',
  kind: 'plan',
  when: 'turn',
  recognise: ({ heading, options, isCut }) => {
    if (isCut || !/^Yes\b/.test(options[0]?.label ?? '')) return undefined;
    // A long plan pushes the title off the screen, and the question has a rule above it.
    if (heading[0] !== withoutText && !question.test(heading.at(-1) ?? '')) return undefined;
    const isWhole = heading[0] === withoutText || heading[0] === withText;
    const plan = isWhole ? heading.filter((line) => !own.test(line) && !question.test(line)) : [];
    return { input: { plan: plan.join('\n') }, summary: 'Leave plan mode and begin' };
  },
  optionForEdits: ACCEPTS_EDITS,
  // Never a yes that also approves later requests.
  optionFor: {
    allow: /^Yes(?!.*\b(auto|accept edits|bypass))/i,
    allow_session: /^Yes(?!.*\b(auto|accept edits|bypass))/i,
    deny: /^No\b/i,
  },
});
