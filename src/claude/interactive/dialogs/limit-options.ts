import type { Dialog } from './dialog.js';

/** Shown when a usage limit is reached: wait, or pay. The caller is not asked: Esc means to wait, which the task does anyway. */
export const limitOptions: Dialog = {
  id: 'limit-options',
  kind: 'prompt',
  when: 'turn',
  optionFor: {
    allow: /^Stop and wait for limit to reset$/,
    allow_session: /^Stop and wait for limit to reset$/,
    deny: /^Stop and wait for limit to reset$/,
  },
  dismissedUnasked: true,
  recognise: ({ heading, options }) =>
    heading.at(-1) === 'What do you want to do?' &&
    options.some((option) => option.label === 'Stop and wait for limit to reset')
      ? { summary: 'Usage limit reached: stop and wait for the reset', input: {} }
      : undefined,
};
