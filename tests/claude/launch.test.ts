import { describe, expect, it } from 'vitest';
import { interactiveArguments, printArguments } from '../../src/claude/launch.js';

const overrides = { sessionId: '00000000-0000-4000-8000-000000000000', model: null };

describe('the arguments of the CLI', () => {
  it('of an interactive session', () => {
    expect(interactiveArguments(overrides, '{"hooks":{}}')).toMatchInlineSnapshot(`
      [
        "--permission-mode",
        "default",
        "--session-id=00000000-0000-4000-8000-000000000000",
        "--settings",
        "{"hooks":{}}",
      ]
    `);
  });

  it('of a print session', () => {
    expect(printArguments(overrides)).toMatchInlineSnapshot(`
      [
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-prompt-tool",
        "stdio",
        "--permission-mode",
        "default",
        "--session-id=00000000-0000-4000-8000-000000000000",
        "--settings",
        "{"disableAllHooks":false,"env":{"CLAUDE_CODE_DISABLE_CRON":"1","CLAUDE_AX_SCREEN_READER":"0"}}",
      ]
    `);
  });

  it('a session that continues another is a copy of it, cut after the named message', () => {
    const whole = { ...overrides, resume: { sessionId: 'earlier', messageId: null } };
    const cut = { ...overrides, resume: { sessionId: 'earlier', messageId: 'message' } };
    for (const args of [printArguments, (each: typeof whole) => interactiveArguments(each, '{}')]) {
      expect(args(whole).join(' ')).toContain('--resume=earlier --fork-session');
      expect(args(whole).join(' ')).not.toContain('--resume-session-at');
    }
    expect(printArguments(cut).join(' ')).toContain(
      '--resume=earlier --fork-session --resume-session-at=message',
    );
  });

  it.each([
    ['interactive', interactiveArguments(overrides, '{}')],
    ['print', printArguments(overrides)],
  ])('%s: the permission mode is always said, since newer versions approve by themselves', (_, args) => {
    expect(args[args.indexOf('--permission-mode') + 1]).toBe('default');
  });
});
