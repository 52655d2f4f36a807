import { defineDialog } from './dialog.js';

/** A question of the agent to the user (`AskUserQuestion`), as the CLI draws it when no hook can answer it. */
export const userQuestion = defineDialog({
  id: 'user-question',
  kind: 'question',
  atStart: false,
  recognise: ({ heading, options }) => {
    if (!options.some((option) => /^Type something\.?$/.test(option.label))) return undefined;
    const question = heading.at(-1) ?? '';
    const header = (heading[0] ?? '').replace(/^[☐☒✔←→\s]+/u, '').trim();
    const labels = options
      .map((option) => option.label)
      .filter((label) => !/^(Type something\.?|Chat about this)$/.test(label));
    return { input: { question, header, options: labels.join('\n') }, summary: question };
  },
  // A question is answered by an option's own words, see DialogKeys; Esc declines it.
  optionFor: { allow: /^$/, allow_session: /^$/, deny: /^$/ },
});
