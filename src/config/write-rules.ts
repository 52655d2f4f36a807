import { BridgeError } from '../base/errors.js';
import type { RuleRow } from '../approvals/modes.js';
import { editJson } from './json-text.js';
import { ruleRowSchema } from './rule-setting.js';
import { leftAsItIs, readEntries, writeSettings } from './settings-file.js';

/**
 * Adds rules to the settings file, which is made if it is not there; its comments, layout and mode stay. A row that is there
 * already is not added again. Throws CONFIG_ERROR for a file that cannot be read, INVALID_ARGUMENTS for a row that is none.
 */
export async function writeRules(path: string, rows: readonly RuleRow[]): Promise<void> {
  for (const row of rows) mustBeRule(row);
  const { text, mode, entries } = await readEntries(path);
  const rules = entries.find(({ key }) => key === 'rules');
  const known = ruleRowSchema.array().safeParse(rules?.value ?? []);
  if (!known.success) throw leftAsItIs(`${path}:${rules?.line ?? 1}: its rules are no list of rules`);
  const isThere = ({ rule }: RuleRow): boolean =>
    known.data.some((one) => one.verdict === 'allow' && one.rule === rule);
  const added = rows.filter((row) => !isThere(row));
  if (added.length === 0) return;
  const edits =
    rules === undefined
      ? [{ path: ['rules'], value: added }]
      : added.map((value) => ({ path: ['rules', -1], value }));
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
