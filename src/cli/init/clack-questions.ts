import type { Questions } from './questions.js';

/** Questions on the terminal. The library is loaded here, so that no other command pays for it. */
export async function clackQuestions(): Promise<Questions> {
  const { confirm, isCancel, log, multiselect, select, text } = await import('@clack/prompts');
  return {
    text: async (message) => {
      const answer = await text({ message, defaultValue: '' });
      return isCancel(answer) ? undefined : answer;
    },
    confirm: async (message, initial) => {
      const answer = await confirm({ message, initialValue: initial });
      return isCancel(answer) ? undefined : answer;
    },
    choose: async (message, choices) => {
      const options = choices.map((choice) => ({ ...choice }));
      const initialValues = choices.map(({ value }) => value);
      const answer = await multiselect({ message, options, initialValues, required: false });
      return isCancel(answer) ? undefined : answer;
    },
    pick: async (message, choices) => {
      const answer = await select({ message, options: choices.map((choice) => ({ ...choice })) });
      return isCancel(answer) ? undefined : answer;
    },
    error: (text) => log.error(text),
  };
}
