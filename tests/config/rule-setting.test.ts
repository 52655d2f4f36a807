import { describe, expect, test } from 'vitest';
import { faults as faultsAt, place } from './config-place.js';

async function faults(value: unknown): Promise<readonly string[]> {
  return faultsAt(await place({ rules: value }));
}

function rule(text: string): unknown {
  return [{ rule: text, verdict: 'deny', reason: 'no' }];
}

describe('the setting rules', () => {
  test.each([
    'Bash(git diff *)',
    'Bash(make && make test)',
    'Edit(src/**)',
    'Read(//etc/**)',
    'WebFetch(domain:example.com)',
    'mcp__github',
    'Agent(code-reviewer)',
    'Skill',
  ])('takes %s', async (text) => {
    expect(await faults(rule(text))).toEqual([]);
  });

  test.each([
    ['', 'a rule such as "Bash(git diff *)"'],
    ['bash(git diff)', 'a tool of Claude Code, as it spells it: Bash'],
    ['WebFecth(x)', 'a tool of Claude Code, as it spells it: WebFetch'],
    ['SomeNewTool', 'a tool of Claude Code, as it spells it: Agent, '],
    ['Monitor(tail *)', 'Bash(tail *), which covers Monitor, too'],
    ['mcp__*', 'the name of an MCP server'],
    ['Bash(npm:* run)', ':* only at the end'],
    ['Write(src/**)', 'Edit(src/**), which covers Write, too'],
    ['Bash(git add . && git commit *)', 'one command without &'],
    ['Edit(!src)', 'a path without !'],
    ['Edit(../x)', 'a path without .. and .'],
    ['Edit(src/{a,b})', 'only wildcards are *, **, ? and classes'],
    ['Read(~root/x)', '~/'],
    ['WebFetch(https://example.com)', 'a host, as in WebFetch(domain:example.com)'],
    ['WebSearch(x)', 'WebSearch without brackets'],
    [`Bash(${'x'.repeat(400)})`, 'a rule of at most 300 characters'],
  ])('names what is wrong with %j', async (text, expected) => {
    const [fault] = await faults(rule(text));
    expect(fault).toContain('config.json:1: rules[0].rule: found ');
    expect(fault).toContain(expected);
  });

  test.each(['Agent', 'Skill'])(
    'takes no rule that asks about one %s, since Claude Code never asks',
    async (tool) => {
      const row = (verdict: string) => [{ rule: `${tool}(deploy)`, verdict, reason: 'no' }];
      expect(await faults(row('deny'))).toEqual([]);
      expect((await faults(row('ask')))[0]).toContain(
        `expected "${tool}" without brackets, or the verdict "deny"`,
      );
    },
  );

  test('names the rule and the key of every other fault', async () => {
    const good = { rule: 'Bash', verdict: 'ask', reason: 'x' };
    expect(await faults([good, { ...good, verdict: 'maybe' }])).toEqual([
      expect.stringMatching(/rules\[1\]\.verdict: found "maybe", expected one of "allow", "deny", "ask"$/),
    ]);
    expect((await faults([{ ...good, reason: '' }]))[0]).toContain(
      'rules[0].reason: found "", expected a reason in one line',
    );
    expect((await faults([{ ...good, reason: 'a\nb' }]))[0]).toContain('rules[0].reason');
    expect((await faults([{ rule: 'Bash', verdict: 'ask' }]))[0]).toContain('rules[0].reason: found nothing');
    expect((await faults(['Bash']))[0]).toContain('rules[0]: found "Bash", expected an object');
    expect((await faults([{ ...good, extra: 1 }]))[0]).toContain('rules[0]');
    expect((await faults('Bash'))[0]).toContain('expected a list of at most 100 rules');
  });
});
