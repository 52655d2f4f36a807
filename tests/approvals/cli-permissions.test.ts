import { describe, expect, it } from 'vitest';
import {
  cliPermissions,
  deniedEdits,
  deniedReads,
  type CliPermissions,
  type PermissionParts,
} from '../../src/approvals/cli-permissions.js';
import type { RuleRow } from '../../src/approvals/modes.js';

const PROJECT = '/home/ann/app [old]';
const IN_PATTERNS = '/home/ann/app \\[old\\]';

function permissions(parts: Partial<PermissionParts>): CliPermissions {
  return cliPermissions({ rows: [], projectPath: PROJECT, ...parts });
}

function given(rule: string, verdict: RuleRow['verdict']): readonly string[] {
  return permissions({ rows: [{ rule, verdict, reason: 'so' }] })[verdict];
}

describe('the rules that Claude Code is given', () => {
  it.each([
    ['Bash(rm *)', 'Bash(rm *)'],
    // Claude Code would look for these from another folder.
    ['Read(private.txt)', `Read(/${IN_PATTERNS}/**/private.txt)`],
    ['Read(/private.txt)', `Read(/${IN_PATTERNS}/private.txt)`],
    ['Read(./docs/private.txt)', `Read(/${IN_PATTERNS}/docs/private.txt)`],
    ['Edit(src/**)', `Edit(/${IN_PATTERNS}/src/**)`],
    ['Edit(//etc/**)', 'Edit(//etc/**)'],
    ['Read(~/.ssh/**)', 'Read(~/.ssh/**)'],
  ])('are those of the settings: %s', (rule, written) => {
    for (const verdict of ['allow', 'ask', 'deny'] as const) expect(given(rule, verdict)).toEqual([written]);
  });

  it('cover the subdomains of a host that is denied or asked about, and no more than the host where it is allowed', () => {
    const both = ['WebFetch(domain:example.com)', 'WebFetch(domain:*.example.com)'];
    expect(given('WebFetch(domain:example.com)', 'deny')).toEqual(both);
    expect(given('WebFetch(domain:example.com)', 'ask')).toEqual(both);
    expect(given('WebFetch(domain:example.com)', 'allow')).toEqual(both.slice(0, 1));
  });

  it('deny a skill or an agent by the name of its copy, too', () => {
    const projectRules = [{ rule: 'Skill(ops:nuke)', verdict: 'deny', reason: 'so' }] as const;
    expect(permissions({ projectRules }).deny).toEqual(['Skill(ops:nuke)', 'Skill(project:ops:nuke)']);
    expect(given('Agent(reviewer)', 'deny')).toEqual(['Agent(reviewer)', 'Agent(project:reviewer)']);
    expect(given('Task(reviewer)', 'deny')).toEqual(['Task(reviewer)', 'Task(project:reviewer)']);
    for (const rule of ['Skill(project:plan)', 'Skill', 'Agent']) expect(given(rule, 'deny')).toEqual([rule]);
    expect(given('Skill(plan)', 'allow')).toEqual(['Skill(plan)']);
  });

  it('deny edits of the bridge’s own files', () => {
    const deny = ['Edit(//me/a?b/st\\*te)', 'Edit(//me/a?b/st\\*te/**)'];
    expect(permissions({ ownPlaces: ['/me/a\\b/st*te'] }).deny).toEqual(deny);
  });

  it('are those of the project, too, where Claude Code does not read its settings: from the top of the project', () => {
    const rows = [
      ['deny', 'Read(/secret/**)'],
      ['deny', 'Bash(/bin/rm *)'],
      ['ask', 'Edit(./docs/**)'],
    ] as const;
    const projectRules = rows.map(([verdict, rule]) => ({ verdict, rule, reason: 'so' }));
    const { deny, ask, allow } = permissions({ projectRules });
    expect(deny).toEqual([`Read(/${IN_PATTERNS}/secret/**)`, 'Bash(/bin/rm *)']);
    expect(ask).toEqual(['Edit(./docs/**)']);
    expect(allow).toEqual([]);
  });
});

it.each([
  ['Edit(/lib/keep.txt)', ['/p/lib/keep.txt'], false],
  ['Edit(./docs/**)', ['/p/docs'], false],
  ['Edit(//etc/hosts)', ['/etc/hosts'], false],
  ['Edit(package.json)', ['/p/package.json'], true],
  ['Edit(*.lock)', [], true],
  ['Edit(**)', [], true],
  ['Edit(a/b[0-9].txt)', [], true],
  ['Read(a.txt)', [], false],
])(
  'a sandbox is given the exact paths of %s, and the rule is named where it matches others',
  (rule, paths, isNamed) => {
    const elsewhere = isNamed ? [rule] : [];
    const row = { rule, reason: 'so' };
    expect(deniedEdits([{ ...row, verdict: 'deny' }], '/p', '/home/ann')).toEqual({ paths, elsewhere });
    expect(deniedEdits([{ ...row, verdict: 'ask' }], '/p', '/home/ann').paths).toEqual([]);
  },
);

it.each([
  ['Read(./secret/**)', '/p/secret/**'],
  ['Read(*.pem)', '/p/**/*.pem'],
  ['Read(~/.ssh/**)', '/home/ann/.ssh/**'],
  ['Read(//etc/hosts)', '/etc/hosts'],
])('another sandbox is given what %s keeps from being read', (rule, pattern) => {
  const row = { rule, reason: 'so' };
  expect(deniedReads([{ ...row, verdict: 'deny' }], '/p', '/home/ann')).toEqual([pattern]);
  expect(deniedReads([{ ...row, verdict: 'ask' }], '/p', '/home/ann')).toEqual([]);
});
