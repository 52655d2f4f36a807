// Pure: the dialogs that the CLI shows at its start, one row each: by what it is recognised, what it asks, which options mean yes and no.
import type { Menu } from './menu.js';

/** One dialog of the CLI. */
export interface Dialog {
  readonly id: string;
  readonly kind: 'trust' | 'prompt';
  /** The first line of its heading. */
  readonly title: RegExp;
  /** What an allowance does. `lines`: those below the title; `groups`: of the title. */
  readonly asks: (menu: Menu, lines: readonly string[], groups: readonly string[]) => string;
  /** The label of the option for an allowance. */
  readonly yes: RegExp;
  /** The label of the option for a denial; without one Esc is pressed. */
  readonly no?: RegExp;
  /** A denial ends Claude Code, which then has not started. */
  readonly noEnds: boolean;
}

/** All known dialogs; at most one of them recognises a screen. */
const dialogs: readonly Dialog[] = [
  {
    // Shown at the first start in a directory.
    id: 'trust-folder',
    kind: 'trust',
    title: /^Accessing workspace:?$/,
    asks: (_menu, lines) => {
      const text = lines.findIndex((line) => /^Quick safety check/.test(line));
      // A long path takes several lines.
      return `Trust the folder ${lines.slice(0, text === -1 ? 1 : text).join('')}`;
    },
    yes: /^Yes, I trust/i,
    no: /^No, exit/i,
    noEnds: true,
  },
  {
    // Allowing it runs a program that the repository chose.
    id: 'project-mcp-server',
    kind: 'trust',
    title: /^New MCP server found in this project: (.+)$/,
    asks: (_menu, _lines, [server = '']) => `Use the project's MCP server ${server}`,
    yes: /^Use this MCP server$/i,
    no: /^Continue without/i,
    noEnds: false,
  },
  {
    // A list of check boxes, all ticked; Esc rejects all.
    id: 'project-mcp-server',
    kind: 'trust',
    title: /^\d+ new MCP servers found in this project$/,
    asks: ({ options }) => `Use the project's MCP servers ${options.slice(0, -1).join(', ')}`,
    yes: /^Enable selected$/,
    noEnds: false,
  },
  {
    // A person must decide whose account pays.
    id: 'api-key',
    kind: 'prompt',
    title: /^Detected a custom API key in your environment/,
    asks: () => 'Use the API key found in the environment',
    yes: /^Yes$/i,
    no: /^No\b/i,
    noEnds: false,
  },
  {
    // `Error`: the CLI leaves out the whole file, with the rules in it; `Warning`: the rows that it names. "Fix with Claude" is never chosen.
    id: 'settings-error',
    kind: 'prompt',
    title: /^Settings (Error|Warning)$/,
    asks: (_menu, [file = ''], [what]) =>
      `Start without ${what === 'Error' ? '' : 'some of '}the settings of ${file}, which have an error`,
    yes: /^Continue( without these settings)?$/i,
    no: /^Exit\b/i,
    noEnds: true,
  },
  {
    // Claude Code stores the answer for the project.
    id: 'external-imports',
    kind: 'prompt',
    title: /^Allow external CLAUDE\.md file imports\?$/,
    asks: (_menu, lines) => {
      const from = lines.findIndex((line) => /^External imports:$/.test(line));
      const to = lines.findIndex((line) => /^Important:/.test(line));
      return `Let CLAUDE.md import files from outside of the project: ${lines.slice(from + 1, to).join(' ')}`;
    },
    yes: /^Yes, allow/,
    no: /^No, disable/,
    noEnds: false,
  },
];

/** The dialog of this menu, and what it asks on one line; undefined for an unknown menu. */
export function recogniseDialog(menu: Menu): { readonly dialog: Dialog; readonly asks: string } | undefined {
  const [title = '', ...lines] = menu.heading;
  for (const dialog of dialogs) {
    const groups = dialog.title.exec(title)?.slice(1);
    if (groups !== undefined && menu.options.some((label) => dialog.yes.test(label)))
      return { dialog, asks: dialog.asks(menu, lines, groups) };
  }
  return undefined;
}

/** Whether a denial of the dialog with this id ends Claude Code. */
export function endsAtNo(id: string): boolean {
  return dialogs.some((dialog) => dialog.id === id && dialog.noEnds);
}
