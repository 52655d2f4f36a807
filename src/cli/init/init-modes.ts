import { approvalModes, type ApprovalMode } from '../../approvals/modes.js';
import { editJson } from '../../config/jsonc-edit.js';
import { loadConfig } from '../../config/load-config.js';
import { configSchema } from '../../config/schema.js';
import { defaultSettingsPath } from '../../config/settings-file.js';
import { readSettings, writeSettings } from '../../config/settings-on-disk.js';
import { entriesOf, type RootsRequest } from './init-roots.js';
import type { Choice } from './questions.js';

const WORDS: Readonly<Record<ApprovalMode, string>> = {
  auto: 'the bridge allows nearly all: less is checked than in Claude Code itself',
  cautious: 'you are asked before each command that may do more than read',
  sandboxed: 'commands run unasked in a sandbox, which keeps them in the project',
  claude: 'Claude Code’s own auto mode: a model of the API checks risky calls',
};
const CHOICES: readonly Choice[] = approvalModes.map((value) => ({
  value,
  label: value,
  hint: WORDS[value],
}));

export interface ModesPlan {
  readonly default_permission_mode: ApprovalMode;
  readonly allowed_permission_modes: readonly ApprovalMode[];
}

/**
 * Asks for the default mode and the allowed ones where none are set; writes nothing. Undefined: they stay as they are. Mode sandboxed
 * stands first, and so is chosen at first, where it works.
 */
export async function planModes(
  request: RootsRequest,
  hasSandbox: boolean,
): Promise<ModesPlan | 'cancelled' | undefined> {
  const { questions } = request.io;
  if (questions === undefined || request.yes === true || request.roots !== undefined) return undefined;
  const path = defaultSettingsPath(request.homeDir);
  const entries = entriesOf(path, (await readSettings(path)).text);
  if (entries.some(({ key }) => /^(default|allowed)_permission_modes?$/.test(key))) return undefined;
  const first = CHOICES.filter(({ value }) => hasSandbox && value === 'sandboxed');
  const answer = await questions.pick('Which permission mode has a task when the chat names none?', [
    ...first.map((choice) => ({ ...choice, hint: `recommended: ${choice.hint}` })),
    ...CHOICES.filter((choice) => !first.includes(choice)),
  ]);
  if (answer === undefined) return 'cancelled';
  const byDefault = configSchema.shape.default_permission_mode.parse(answer);
  const chosen = await questions.choose('Which modes may the chat choose? Others are refused.', CHOICES);
  if (chosen === undefined) return 'cancelled';
  const allowed = approvalModes.filter((mode) => mode === byDefault || chosen.includes(mode));
  if (byDefault === 'auto' && allowed.length === approvalModes.length) return undefined;
  return { default_permission_mode: byDefault, allowed_permission_modes: allowed };
}

/** Writes them into the settings file, which keeps its other keys, comments and layout. Throws CONFIG_ERROR when the server would refuse it. */
export async function writeModes({ io, homeDir }: RootsRequest, plan: ModesPlan): Promise<void> {
  const path = defaultSettingsPath(homeDir);
  const { text } = await readSettings(path);
  const edits = Object.entries(plan).map(([key, value]: [string, unknown]) => ({ path: [key], value }));
  await writeSettings(path, editJson(text, edits));
  io.write(`Wrote the permission modes to ${path}`);
  await loadConfig({ env: {}, cwd: homeDir, homeDir, configPath: path });
}
