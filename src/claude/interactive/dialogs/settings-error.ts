import { oneLine } from '../../../base/text/text.js';
import { defineDialog } from './dialog.js';

const ERROR_CHARS = 1_000;

/**
 * `Settings Error`: the CLI leaves out the whole file, with the rules in it; `Settings Warning`: it leaves out the rows that it names.
 * "Fix with Claude" is never chosen.
 */
export const settingsError = defineDialog({
  id: 'settings-error',
  kind: 'prompt',
  when: 'start',
  recognise: ({ heading, options, isCut }) => {
    const [, what] = /^Settings (Error|Warning)$/.exec(heading[0] ?? '') ?? [];
    if (isCut || what === undefined) return undefined;
    if (!options.some((option) => /^Continue( without these settings)?$/i.test(option.label)))
      return undefined;
    const file = heading[1] ?? '';
    const error = oneLine(heading.slice(2).join(' '), ERROR_CHARS);
    return {
      input: { file, error },
      summary: `Start without ${what === 'Error' ? '' : 'some of '}the settings of ${file}, which have an error`,
    };
  },
  optionFor: { allow: /^Continue\b/i, allow_session: /^Continue\b/i, deny: /^Exit\b/i },
});
