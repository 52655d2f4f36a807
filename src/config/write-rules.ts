import { BridgeError } from '../base/errors.js';
import type { RuleRow } from '../approvals/modes.js';
import { editJson } from './jsonc-edit.js';
import { ruleRowSchema } from './rule-setting.js';
import { leftAsItIs, readSettings, writeSettings } from './settings-on-disk.js';
import { parseSettingsText } from './settings-text.js';

/**
 * Adds rules to the settings file, which is made if it is not there; its comments, layout and mode stay. A row that is there
 * already is not added again. Throws CONFIG_ERROR for a file that cannot be read, INVALID_ARGUMENTS for a row that is none.
 */
export async function writeRules(path: string, rows: readonly RuleRow[]): Promise<void> {
  for (const row of rows) mustBeRule(row);
  const { text, mode } = await readSettings(path);
  const known = knownRules(path, text);
  const added = rows.filter(({ rule }) => !known?.includes(rule));
  if (added.length === 0) return;
  const edits =
    known === undefined
      ? [{ path: ['rules'], value: added }]
      : added.map((value) => ({ path: ['rules', -1], value, insert: true }));
  await writeSettings(path, editJson(text, edits), mode);
}

function mustBeRule(row: RuleRow): void {
  const checked = ruleRowSchema.safeParse(row);
  if (checked.success) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The rule ${JSON.stringify(row.rule)} is not one: expected ${checked.error.issues[0]?.message ?? 'a rule'}.`,
    'Nothing was written. Correct the rule.',
  );
}

/** The rules that allow and are there already; undefined when the file has no rules. */
function knownRules(path: string, text: string): readonly string[] | undefined {
  if (text.trim() === '') return undefined;
  const parsed = parseSettingsText(text);
  if (parsed.kind === 'errors') {
    const [first] = parsed.errors;
    throw leftAsItIs(`${path}:${first?.line ?? 1}: ${first?.words ?? 'it is broken'}`);
  }
  const rules = parsed.entries.find(({ key }) => key === 'rules');
  if (rules === undefined) return undefined;
  const rows = ruleRowSchema.array().safeParse(rules.value);
  if (!rows.success) throw leftAsItIs(`${path}:${rules.line}: its rules are no list of rules`);
  return rows.data.filter(({ verdict }) => verdict === 'allow').map(({ rule }) => rule);
}
