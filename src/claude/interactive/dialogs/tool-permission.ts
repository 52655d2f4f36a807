import { countedLine } from '../../../base/text/text.js';
import { defineDialog } from './dialog.js';

const SUMMARY_CHARS = 200;

/** `Bash command … Do you want to proceed?`, `Create file … Do you want to create a.txt?` and similar dialogs. */
export const toolPermission = defineDialog({
  id: 'tool-permission',
  kind: 'permission',
  when: 'turn',
  recognise: ({ heading, framed, options, isCut }) => {
    const question = heading.at(-1) ?? '';
    if (!/^(Do you want to (?!use this API key)|Would you like to |Allow )/.test(question)) return undefined;
    if (!/^Yes$/.test(options[0]?.label ?? '') || !/^No\b/.test(options.at(-1)?.label ?? ''))
      return undefined;
    const title = isCut ? '' : (heading[0] ?? '');
    const about = heading.slice(isCut ? 0 : 1, -1).filter((line) => !/^Tip:/.test(line));
    // Newer versions show the agent's description first, but the command itself matters.
    const subject = title === 'Bash command' && framed.length > 0 ? framed.join(' ') : (about[0] ?? question);
    return {
      input: { title, about: about.join('\n'), question },
      summary: countedLine(isCut ? question : `${title}: ${subject}`, SUMMARY_CHARS),
    };
  },
  optionFor: {
    allow: /^Yes$/i,
    // Only an option that ends with the session: `always allow … from this project` outlives it.
    allow_session: /^Yes, .*\b(this|the) session\b/i,
    deny: /^No\b/i,
  },
});
