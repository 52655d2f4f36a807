// Pure: the dialogs of the CLI, one row each: by what it is recognised, what it asks, and which options mean yes and no.
import { countedLine, oneLine } from '../../base/text.js';
import type { RequestKind } from '../session.js';
import type { Menu } from './menu.js';

const SUMMARY_CHARS = 200;
const DETAIL_CHARS = 1_000;
/** `Yes, and switch to accept edits (…)`, `Yes, auto-accept edits`. */
export const ACCEPTS_EDITS = /^Yes\b.*\baccept edits\b/i;

/** The content of a dialog, read from the screen. */
export interface DialogReading {
  /** Identifies the request; the same on each repaint, so that it is asked once. */
  readonly input: Readonly<Record<string, string>>;
  readonly summary: string;
}

/** One dialog of the CLI. */
export interface Dialog {
  readonly id: string;
  readonly kind: RequestKind;
  /** `start`: shown before the first prompt. `turn`: shown during a turn. At other times the dialog is not trusted. */
  readonly when: 'start' | 'turn';
  /** The first line of its heading. A dialog without one is recognised by `read` alone. */
  readonly title?: RegExp;
  /** It has an option with this label. */
  readonly option: RegExp;
  /** Undefined when the menu is another dialog. `title`: what the title's groups matched. */
  readonly read: (menu: Menu, title: readonly string[]) => DialogReading | undefined;
  /** The label of the option for an allowance, of whatever kind: a wider one would outlive the request. */
  readonly yes: RegExp;
  /** The label of the option for a denial; without a match Esc is pressed. */
  readonly no: RegExp;
  /** For plans: the option that also makes the CLI accept later edits automatically. */
  readonly yesToEdits?: RegExp;
  /** Esc is pressed without a request to the caller; it approves nothing. */
  readonly dismissedUnasked?: true;
}

/** All known dialogs; at most one of them recognises a screen. */
export const dialogs: readonly Dialog[] = [
  {
    // Shown at the first start in a directory, without a hook.
    id: 'trust-folder',
    kind: 'trust',
    when: 'start',
    title: /^Accessing workspace:?$/,
    option: /trust this folder/i,
    read: ({ heading: [, ...rest] }) => {
      const text = rest.findIndex((line) => /^Quick safety check/.test(line));
      // A long path takes several lines.
      const folder = rest.slice(0, text === -1 ? 1 : text).join('');
      return { input: { folder }, summary: `Trust the folder ${folder}` };
    },
    yes: /^Yes, I trust/i,
    no: /^No, exit/i,
  },
  {
    // Allowing it runs a program that the repository chose.
    id: 'project-mcp-server',
    kind: 'trust',
    when: 'start',
    title: /^New MCP server found in this project: (.+)$/,
    option: /^Use this MCP server$/i,
    read: (_menu, [server = '']) => ({
      input: { server },
      summary: `Use the project's MCP server ${server}`,
    }),
    yes: /^Use this MCP server$/i,
    no: /^Continue without/i,
  },
  {
    // A list of check boxes, all ticked; Esc rejects all.
    id: 'project-mcp-server',
    kind: 'trust',
    when: 'start',
    title: /^\d+ new MCP servers found in this project$/,
    option: /^Enable selected$/,
    read: ({ options }) => {
      const ticked = options.filter((option) => option.ticked === true);
      const server = ticked.map((option) => option.label).join(', ');
      return { input: { server }, summary: `Use the project's MCP servers ${server}` };
    },
    yes: /^Enable selected$/,
    no: /^$/,
  },
  {
    // A person must decide whose account pays.
    id: 'api-key',
    kind: 'prompt',
    when: 'start',
    title: /^Detected a custom API key in your environment/,
    option: /^Yes$/i,
    read: ({ heading }) => {
      const key = heading.find((line) => line.startsWith('ANTHROPIC_API_KEY')) ?? '';
      return { input: { key }, summary: 'Use the API key found in the environment' };
    },
    yes: /^Yes$/i,
    no: /^No\b/i,
  },
  {
    // The bridge never requests that mode, but settings may.
    id: 'bypass-warning',
    kind: 'prompt',
    when: 'start',
    title: /^WARNING: .*Bypass Permissions mode/i,
    option: /^Yes, I accept/i,
    read: () => ({ input: {}, summary: 'Run Claude Code in Bypass Permissions mode' }),
    yes: /^Yes, I accept/i,
    no: /^No, exit/i,
  },
  {
    // `Error`: the CLI leaves out the whole file, with the rules in it; `Warning`: the rows that it names. "Fix with Claude" is never chosen.
    id: 'settings-error',
    kind: 'prompt',
    when: 'start',
    title: /^Settings (Error|Warning)$/,
    option: /^Continue( without these settings)?$/i,
    read: ({ heading: [, file = '', ...rest] }, [what]) => ({
      input: { file, error: oneLine(rest.join(' '), DETAIL_CHARS) },
      summary: `Start without ${what === 'Error' ? '' : 'some of '}the settings of ${file}, which have an error`,
    }),
    yes: /^Continue\b/i,
    no: /^Exit\b/i,
  },
  {
    // Claude Code stores the answer for the project.
    id: 'external-imports',
    kind: 'prompt',
    when: 'start',
    title: /^Allow external CLAUDE\.md file imports\?$/,
    option: /^Yes, allow external imports$/,
    read: ({ heading }) => {
      const from = heading.findIndex((line) => /^External imports:$/.test(line));
      const to = heading.findIndex((line) => /^Important:/.test(line));
      const files = oneLine(heading.slice(from + 1, to).join(' '), DETAIL_CHARS);
      return {
        input: { files },
        summary: `Let CLAUDE.md import files from outside of the project: ${files}`,
      };
    },
    yes: /^Yes, allow/,
    no: /^No, disable/,
  },
  {
    // The plan is done and the agent wants to start.
    id: 'plan-ready',
    kind: 'plan',
    when: 'turn',
    option: /^Yes\b/,
    read: readPlan,
    // Never a yes that also approves later requests.
    yes: /^Yes(?!.*\b(auto|accept edits|bypass))/i,
    yesToEdits: ACCEPTS_EDITS,
    no: /^No\b/i,
  },
  {
    id: 'tool-permission',
    kind: 'permission',
    when: 'turn',
    option: /^Yes$/,
    read: readPermission,
    yes: /^Yes$/i,
    no: /^No\b/i,
  },
  {
    // At a usage limit: wait, or pay. Esc means to wait, which the task does anyway.
    id: 'limit-options',
    kind: 'prompt',
    when: 'turn',
    option: /^Stop and wait for limit to reset$/,
    read: ({ heading }) =>
      heading.at(-1) === 'What do you want to do?'
        ? { input: {}, summary: 'Usage limit reached: stop and wait for the reset' }
        : undefined,
    yes: /^Stop and wait for limit to reset$/,
    no: /^Stop and wait for limit to reset$/,
    dismissedUnasked: true,
  },
];

/** The dialog of this menu and its content; undefined for an unknown menu. */
export function recogniseDialog(
  menu: Menu,
): { readonly dialog: Dialog; readonly reading: DialogReading } | undefined {
  for (const dialog of dialogs) {
    const reading = readAs(dialog, menu);
    if (reading !== undefined) return { dialog, reading };
  }
  return undefined;
}

/** Undefined when the menu is not that dialog. */
export function readAs({ title, option, read }: Dialog, menu: Menu): DialogReading | undefined {
  if (!menu.options.some(({ label }) => option.test(label))) return undefined;
  if (title === undefined) return read(menu, []);
  const found = title.exec(menu.heading[0] ?? '');
  return found === null || menu.isCut ? undefined : read(menu, found.slice(1));
}

const PLAN_TITLES = ['Exit plan mode?', 'Ready to code?'];
const PLAN_QUESTION = /^Claude has written up a plan and is ready to execute\./;
const PLAN_OWN = /^(Exit plan mode\?|Ready to code\?|Here is Claude's plan:|Claude wants to exit plan mode)$/;

/** A long plan pushes the title off the screen, and the question has a rule above it. */
function readPlan({ heading, isCut }: Menu): DialogReading | undefined {
  const [title = ''] = heading;
  if (isCut || (title !== PLAN_TITLES[0] && !PLAN_QUESTION.test(heading.at(-1) ?? ''))) return undefined;
  const isWhole = PLAN_TITLES.includes(title);
  const plan = isWhole ? heading.filter((line) => !PLAN_OWN.test(line) && !PLAN_QUESTION.test(line)) : [];
  return { input: { plan: plan.join('\n') }, summary: 'Leave plan mode and begin' };
}

/** `Bash command … Do you want to proceed?`, `Create file … Do you want to create a.txt?` and similar dialogs. */
function readPermission({ heading, framed, options, isCut }: Menu): DialogReading | undefined {
  const question = heading.at(-1) ?? '';
  if (!/^(Do you want to (?!use this API key)|Would you like to |Allow )/.test(question)) return undefined;
  if (!/^No\b/.test(options.at(-1)?.label ?? '')) return undefined;
  const title = isCut ? '' : (heading[0] ?? '');
  const about = heading.slice(isCut ? 0 : 1, -1).filter((line) => !/^Tip:/.test(line));
  // Newer versions show the agent's description first, but the command itself matters.
  const subject = title === 'Bash command' && framed.length > 0 ? framed.join(' ') : (about[0] ?? question);
  return {
    input: { title, about: about.join('\n'), question },
    summary: countedLine(isCut ? question : `${title}: ${subject}`, SUMMARY_CHARS),
  };
}
