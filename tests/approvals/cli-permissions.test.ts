import { describe, expect, it } from 'vitest';
import { cliPermissions } from '../../src/approvals/cli-permissions.js';
import { parsePermissionRule } from '../../src/approvals/permission-rule.js';
import { liveNames } from '../../src/projects/live-names.js';
import { secretNames } from '../../src/projects/secret-names.js';
import type { RuleRow } from '../../src/approvals/user-rules.js';

const PROJECT = '/home/ann/app';

function asked(rule: string, verdict: RuleRow['verdict'] = 'deny'): readonly string[] {
  return cliPermissions([{ rule, verdict, reason: 'so' }], 'auto', PROJECT).ask;
}

describe('what Claude Code must ask about, so that the bridge can answer', () => {
  it.each([
    // A command may stand behind another one: every line is asked about.
    ['Bash(rm *)', ['Bash']],
    ['Bash', ['Bash']],
    // Commands read and write files, too; a path that begins in the project is said from the root.
    ['Read(private.txt)', ['Bash', `Read(/${PROJECT}/**/private.txt)`]],
    ['Read(/private.txt)', ['Bash', `Read(/${PROJECT}/private.txt)`]],
    ['Read(./docs/private.txt)', ['Bash', `Read(/${PROJECT}/docs/private.txt)`]],
    ['Edit(src/**)', ['Bash', `Edit(/${PROJECT}/src/**)`]],
    ['Edit(//etc/**)', ['Bash', 'Edit(//etc/**)']],
    ['Read(~/.ssh/**)', ['Bash', 'Read(~/.ssh/**)']],
    ['WebFetch(domain:example.com)', ['WebFetch(domain:example.com)']],
    ['mcp__server__tool', ['mcp__server__tool']],
  ])('a denial of %s', (rule, ask) => {
    expect(asked(rule)).toEqual(ask);
    expect(asked(rule, 'ask')).toEqual(ask);
  });

  it('nothing for allow rules or invalid ones', () => {
    expect(asked('Bash(npm test)', 'allow')).toEqual([]);
    expect(asked('Bash(')).toEqual([]);
  });

  it('in mode cautious every name of the two lists, in Claude Code’s syntax', () => {
    const { ask } = cliPermissions([], 'cautious', PROJECT);
    const named = (tool: string) =>
      ask.flatMap((rule) => new RegExp(`^${tool}\\(\\*\\*/(.*)\\)$`).exec(rule)?.[1] ?? []);
    expect(named('Read')).toEqual([...secretNames.folders, ...secretNames.files]);
    expect(named('Edit')).toEqual([...liveNames.folders, ...liveNames.files]);
    for (const rule of ask) expect(parsePermissionRule(rule)).toHaveProperty('rule');
  });

  it('in mode cautious every command that names a file of secrets', () => {
    const { ask } = cliPermissions([], 'cautious', PROJECT);
    expect(ask).toEqual(
      expect.arrayContaining(['Grep', 'Bash(*.env*)', 'Bash(*credentials.json*)', 'Bash(*/secrets*)']),
    );
    expect(ask).not.toContain('Bash(*secrets*)');
    expect(ask).not.toContain('Bash(**)');
  });

  it('in every mode denies edits of the bridge’s own files', () => {
    const own = ['/home/me/state'];
    const deny = ['Edit(//home/me/state)', 'Edit(//home/me/state/**)'];
    expect(cliPermissions([], 'auto', PROJECT, own)).toEqual({ ask: [], deny });
    expect(cliPermissions([], 'cautious', PROJECT, own).deny).toEqual(deny);
  });

  it('in mode cautious the network and files of secrets, each once; Claude Code decides about commands', () => {
    const { ask } = cliPermissions(
      [{ rule: 'Bash(rm *)', verdict: 'deny', reason: 'so' }],
      'cautious',
      PROJECT,
    );
    expect(ask).toEqual(
      expect.arrayContaining(['Bash', 'WebFetch', 'WebSearch', 'Read(**/.env)', 'Read(**/.ssh)']),
    );
    expect(new Set(ask).size).toBe(ask.length);
    expect(cliPermissions([], 'cautious', PROJECT).ask).not.toContain('Bash');
    expect(cliPermissions([], 'auto', PROJECT).ask).toEqual([]);
  });
});
