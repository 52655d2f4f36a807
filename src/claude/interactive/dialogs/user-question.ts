import type { Menu } from '../menu.js';
import { defineDialog } from './dialog.js';

/** The start of the header with its tabs: open (`☐`) or answered (`☒`) questions, and at the end `✔ Submit`. */
const headerPattern = /^(←\s+)?[☐☒]/u;

/** A question of the agent to the user (`AskUserQuestion`), which the CLI shows when no hook can answer it. */
export const userQuestion = defineDialog({
  id: 'user-question',
  kind: 'question',
  when: 'turn',
  recognise: (menu) => {
    const choices = questionChoices(menu);
    if (choices === undefined) return undefined;
    const { heading, isCut } = menu;
    // Only the end of a question that is taller than the screen is visible.
    if (!isCut && !headerPattern.test(heading[0] ?? '')) return undefined;
    const tabs = (heading[0] ?? '').match(/[☐☒]\s+\S.*?(?=\s{2,}|$)/gu) ?? [];
    const header = !isCut && tabs.length === 1 ? (tabs[0] ?? '').slice(1).trim() : '';
    const question = heading.slice(isCut ? 0 : 1).join('\n');
    const labels = choices.map((choice) => choice.label).join('\n');
    return {
      input: { question, header, options: labels },
      summary: question.replaceAll('\n', ' '),
      choices: choices.map(({ label, description }) => ({ label, description })),
      isMulti: choices.some((choice) => choice.ticked !== undefined),
    };
  },
  // A question is answered by an option's label, see `answerQuestion`; Esc declines it.
  optionFor: { allow: /^$/, allow_session: /^$/, deny: /^$/ },
});

/**
 * The agent's choices: the numbered options before the two that the CLI adds, one for free text (labelled with the text typed so far)
 * and `Chat about this`. Undefined when the menu is not a question.
 */
export function questionChoices({ options }: Menu): Menu['options'] | undefined {
  const numbered = options.filter((option) => option.number !== undefined);
  return numbered.at(-1)?.label === 'Chat about this' ? numbered.slice(0, -2) : undefined;
}
