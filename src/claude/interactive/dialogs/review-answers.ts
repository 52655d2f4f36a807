import { defineDialog } from './dialog.js';

/** `Review your answers`: the last step of several questions, or of one with several answers. */
export const reviewAnswers = defineDialog({
  id: 'review-answers',
  kind: 'prompt',
  when: 'turn',
  recognise: ({ heading, options, isCut }) => {
    if (isCut || !/^←.*[☐☒✔].*→$/u.test(heading[0] ?? '') || heading[1] !== 'Review your answers')
      return undefined;
    if (options.length !== 2 || !/^Submit answers$/.test(options[0]?.label ?? '')) return undefined;
    const answers = heading.slice(2).filter((line) => !/^Ready to submit/.test(line));
    return { input: { answers: answers.join('\n') }, summary: 'Submit the answers' };
  },
  optionFor: { allow: /^Submit answers$/, allow_session: /^Submit answers$/, deny: /^Cancel$/ },
});
