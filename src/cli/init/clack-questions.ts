import type { Questions } from './questions.js';

/** Questions on the terminal. The library is loaded here, so that no other command pays for it. */
export async function clackQuestions(): Promise<Questions> {
  const { confirm, isCancel, text } = await import('@clack/prompts');
  return {
    text: async (message, placeholder) => {
      const answer = await text({ message, placeholder, defaultValue: '' });
      return isCancel(answer) ? undefined : answer;
    },
    confirm: async (message, initial) => {
      const answer = await confirm({ message, initialValue: initial });
      return isCancel(answer) ? undefined : answer;
    },
  };
}
