import { defineDialog } from './dialog.js';

/** `Bash command … Do you want to proceed?`, `Create file … Do you want to create a.txt?` and their like. */
export const toolPermission = defineDialog({
  id: 'tool-permission',
  kind: 'permission',
  atStart: false,
  recognise: ({ heading, options }) => {
    const question = heading.at(-1) ?? '';
    if (!/^(Do you want to|Would you like to|Allow )/.test(question)) return undefined;
    if (!/^Yes/.test(options[0]?.label ?? '') || !options.some((option) => /^No\b/.test(option.label)))
      return undefined;
    const title = heading[0] ?? '';
    const about = heading.slice(1, -1).filter((line) => !/^(Tip:|╌+$)/u.test(line));
    return {
      input: { title, about: about.join('\n'), question },
      summary: `${title}: ${about[0] ?? question}`,
    };
  },
  optionFor: {
    allow: /^Yes$/i,
    allow_session: /^Yes, (and )?(always )?allow|^Yes, .*session/i,
    deny: /^No\b/i,
  },
});
