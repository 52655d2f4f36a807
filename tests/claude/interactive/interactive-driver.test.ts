import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { InteractiveDriver } from '../../../src/claude/interactive/interactive-driver.js';
import type { SessionEvent } from '../../../src/claude/session.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { until } from '../../harness/until.js';
import { pass } from '../pass-time.js';
import { recordedBytes, screenFixture } from '../screen-fixtures.js';
import { ScriptedPty } from '../scripted-pty.js';
import { passingGuard } from '../../harness/passing-guard.js';

const CTRL_C = '\x03';
const RULE = '─'.repeat(120);
const settingsSchema = z.object({
  hooks: z.record(z.string(), z.array(z.object({ hooks: z.array(z.object({ url: z.string() })) }))),
});

let clock: ManualClock;
let pty: ScriptedPty;
let driver: InteractiveDriver;
let events: SessionEvent[];
let killed: (number | undefined)[];

beforeEach(() => {
  clock = new ManualClock();
  pty = new ScriptedPty();
  events = [];
  killed = [];
  driver = openDriver();
});
afterEach(() => driver.dispose());

/** It reads no transcripts. */
function openDriver(): InteractiveDriver {
  const opened = new InteractiveDriver({
    pty,
    clock,
    command: ['/bin/claude', '--debug'],
    cwd: '/home/anybody/proj',
    env: { HOME: '/home/anybody' },
    shell: '/bin/sh',
    promptFile: '/home/anybody/prompt.md',
    prompt: 'Do it.',
    sessionId: '00000000-0000-4000-8000-000000000000',
    configDir: undefined,
    model: null,
    decisionTimeoutSeconds: 300,
    killTree: async (pid) => {
      killed.push(pid);
      pty.exit({ signal: 'SIGKILL' });
    },
    onBytes: () => {},
    guard: passingGuard,
  });
  opened.onEvent((event) => events.push(event));
  return opened;
}

function argumentAfter(name: string): string {
  const command = pty.spawned?.command ?? [];
  return command[command.indexOf(name) + 1] ?? '';
}

function hooksUrl(): string {
  return (
    settingsSchema.parse(JSON.parse(argumentAfter('--settings'))).hooks['Stop']?.[0]?.hooks[0]?.url ?? ''
  );
}

/** Posts a hook as the CLI would, and gives its answer. */
async function hook(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
  const response = await fetch(hooksUrl(), {
    method: 'POST',
    headers: { authorization: `Bearer ${pty.spawned?.env['CLAUDE_CODE_BRIDGE_HOOK_TOKEN'] ?? ''}` },
    body: JSON.stringify({
      session_id: '00000000-0000-4000-8000-000000000000',
      hook_event_name: name,
      ...fields,
    }),
  });
  return response.json();
}

/** Posts a hook whose answer no test reads; at the end its connection is closed. */
function leaveOpen(name: string, fields: Readonly<Record<string, unknown>>): void {
  hook(name, fields).catch(() => undefined);
}

/** Shows what the real CLI once wrote to its terminal. */
async function play(name: string, ms = 300): Promise<void> {
  pty.print(recordedBytes(screenFixture('2.1.330', name)));
  await pass(clock, ms);
}

/** An input box as the CLI draws it. */
function drawComposer(text = '', footer = '  ? for shortcuts', above: readonly string[] = []): void {
  const lines = [...above, RULE, `❯\u00a0${text}`, RULE, footer];
  pty.draw(lines, { row: above.length + 1, column: 2 + text.length });
}

const ofType = <T extends SessionEvent['type']>(type: T): Extract<SessionEvent, { type: T }>[] =>
  events.filter((event): event is Extract<SessionEvent, { type: T }> => event.type === type);

describe('the start', () => {
  it('passes the prompt by file, the mode explicitly, and the token only by the environment', async () => {
    await driver.start();
    expect(pty.spawned).toMatchObject({
      cwd: '/home/anybody/proj',
      stdinFile: '/home/anybody/prompt.md',
      size: { columns: 120, rows: 40 },
    });
    expect(pty.spawned?.command.slice(0, 2)).toEqual(['/bin/claude', '--debug']);
    expect(argumentAfter('--permission-mode')).toBe('default');
    expect(pty.spawned?.command).toContain('--session-id=00000000-0000-4000-8000-000000000000');
    const token = pty.spawned?.env['CLAUDE_CODE_BRIDGE_HOOK_TOKEN'] ?? '';
    expect(token.length).toBeGreaterThan(20);
    expect(pty.spawned?.command.join(' ')).not.toContain(token);
    expect(events).toEqual([{ type: 'spawned', pid: 4242 }]);
  });

  it.each([
    [
      'holds the prompt in its input box',
      () => drawComposer('/clear', '  ❯ /clear   Start'),
      91_000,
      '❯\u00a0/clear',
    ],
    ['shows nothing that is known', () => pty.print('Trust? Enter y/n:'), 331_000, 'Trust? Enter y/n:'],
  ])('that begins no turn and %s ends with that reason', async (_what, draw, ms, shown) => {
    await driver.start();
    draw();
    await pass(clock, 59_000, 1_000);
    expect(ofType('trouble')).toEqual([]);
    await pass(clock, ms - 59_000, 1_000);
    expect(ofType('trouble')).toMatchObject([
      {
        kind: 'silent',
        text: expect.stringContaining(`Claude Code began no turn; the screen shows: ${shown}`),
      },
    ]);
  });

  it.each([
    ['exactly', 'Do it.\n', {}],
    [
      'changed',
      'Do\u200bit',
      { hookSpecificOutput: { additionalContext: expect.stringMatching(/:\nDo it\.$/) } },
    ],
  ])('has its prompt %s', async (_how, prompt, answer) => {
    await driver.start();
    expect(await hook('UserPromptSubmit', { prompt })).toMatchObject(answer);
    expect(ofType('notice')).toHaveLength(Object.keys(answer).length);
  });

  it.each([
    ['onboarding-theme', 'onboarding'],
    ['onboarding-security', 'onboarding'],
    ['login-method', 'not-logged-in'],
    ['unreachable', 'network'],
  ] as const)('that ends at %s is trouble, told once', async (name, kind) => {
    await driver.start();
    await play(name, 5_000);
    expect(ofType('trouble').map((event) => event.kind)).toEqual([kind]);
  });
});

describe('with hooks', () => {
  beforeEach(async () => {
    await driver.start();
    drawComposer();
    await hook('UserPromptSubmit', { prompt: 'Do it.' });
  });

  it.each(['trust-folder', 'run-command'])(
    'what looks like the dialog %s is neither asked nor answered',
    async (name) => {
      await play(name, 2_000);
      expect(ofType('request')).toEqual([]);
      expect(await driver.answer('screen-1', { verdict: 'allow' })).toBe('gone');
      expect(pty.typed.join('')).not.toContain('\r');
    },
  );

  const menu = [RULE, 'What do you want to do?', '', '❯ 1. Stop and wait', '  2. Upgrade your plan'];

  it('whatever is painted while a request is open, no key is pressed', async () => {
    leaveOpen('StopFailure', {
      error: 'rate_limit',
      last_assistant_message: "You've hit your session limit",
    });
    await vi.waitFor(() => expect(ofType('turn-ended')).toHaveLength(1));
    leaveOpen('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'make' } });
    await vi.waitFor(() => expect(ofType('request')).toHaveLength(1));
    await driver.answer('hook-1', { verdict: 'allow', input: { command: 'touch new.txt', description: '' } });
    leaveOpen('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'touch pwned' } });
    await vi.waitFor(() => expect(ofType('request')).toHaveLength(2));
    const sent = driver.send('Go on.');
    pty.draw(menu);
    await pass(clock, 4_000);
    await play('run-command', 4_000);
    await play('trust-folder', 4_000);
    drawComposer();
    pty.print('\x1b[c\x1b[6n');
    await pass(clock, 20_000, 500);
    expect(await sent).toBe('asked');
    expect(pty.typed).toEqual([]);
    expect(ofType('keys')).toEqual([]);
    expect(ofType('request-gone')).toEqual([]);
  });

  it('a request that opens between two keys of a message holds the second back', async () => {
    pty.onTyped = (keys) => {
      if (!keys.startsWith('\x1b[200~')) return;
      leaveOpen('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'make' } });
    };
    await pass(clock, 200);
    const sent = driver.send('Go on.');
    await vi.waitFor(() => expect(ofType('request')).toHaveLength(1));
    drawComposer('Go on.');
    await pass(clock, 200);
    expect(await sent).toBe('asked');
    expect(pty.typed).toEqual(['\x1b[200~Go on. \x1b[201~']);
  });

  it('Enter of a message is pressed only in an input box', async () => {
    pty.onTyped = (keys) => {
      if (keys.startsWith('\x1b[200~')) pty.draw(menu);
    };
    const sent = driver.send('Go on.');
    await pass(clock, 6_000, 500);
    expect(await sent).toBe('covered');
    expect(pty.typed).toEqual(['\x1b[200~Go on. \x1b[201~']);
  });

  it.each(['ended by the denial', 'that goes on'])(
    'an interrupt ends the turn through the hook that is open; Esc is for a turn %s',
    async (turn) => {
      drawComposer('', '  esc to interrupt');
      await pass(clock, 300);
      const output = hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'make' } });
      await vi.waitFor(() => expect(ofType('request')).toHaveLength(1));
      const interrupted = driver.interrupt();
      expect(await output).toMatchObject({
        hookSpecificOutput: { decision: { behavior: 'deny', interrupt: true } },
      });
      const goesOn = turn === 'that goes on';
      if (goesOn)
        await until('Esc is pressed', async () => {
          await pass(clock, 500);
          expect(pty.typed).toEqual(['\x1b']);
        });
      await play('interrupted', 1_000);
      await interrupted;
      expect(pty.typed.filter((keys) => keys === '\x1b')).toHaveLength(goesOn ? 1 : 0);
      expect(ofType('request-gone')).toEqual([
        { type: 'request-gone', requestId: 'hook-1', why: 'The turn was interrupted.' },
      ]);
      expect(ofType('turn-ended')).toMatchObject([{ interrupted: true }]);
    },
  );

  it('an interrupt whose Esc does nothing presses Ctrl-C; when the turn goes on after that, it says so', async () => {
    drawComposer('', '  esc to interrupt');
    await pass(clock, 300);
    const why = driver.interrupt().catch(String);
    await pass(clock, 11_000, 500);
    expect(pty.typed).toEqual(['\x1b', CTRL_C]);
    expect(await why).toContain('did not stop its turn');
  });

  it.each(['interrupted', 'interrupted-early'])('Esc ends the turn when the screen is %s', async (name) => {
    const interrupted = driver.interrupt();
    await vi.waitFor(() => expect(pty.typed.at(-1)).toBe('\x1b'));
    await play(name, 1_000);
    await interrupted;
    expect(ofType('turn-ended')).toMatchObject([{ source: 'observed', message: '', interrupted: true }]);
  });

  it.each([0, 1])(
    'shows the words of the agent, and the screen of a program that exits with %i',
    async (code) => {
      pty.draw(['● I look.', '  Allowed by PermissionRequest hook', '  ⎿  Error: no memory']);
      await pass(clock, 300);
      expect(driver.lastOutput(500)).toBe('');
      await hook('Stop', { last_assistant_message: 'I look.' });
      expect(driver.lastOutput(500)).toBe('I look.');
      pty.exit({ code });
      await vi.waitFor(() => expect(ofType('exited')).toHaveLength(1));
      expect(driver.lastOutput(500)).toMatch(code === 0 ? /^I look\.$/ : /Error: no memory$/);
    },
  );
});

describe('without hooks', () => {
  beforeEach(() => driver.start());

  it('whatever the screen shows, no turn has begun or ended', async () => {
    await play('busy', 5_000);
    await play('idle-after-turn', 3_000);
    drawComposer('', '  ? for shortcuts', ['❯ Work.', '', '● Noodling…']);
    await pass(clock, 5_000);
    expect([...ofType('turn-started'), ...ofType('turn-ended'), ...ofType('trouble')]).toEqual([]);
  });
});

describe('a message', () => {
  beforeEach(async () => {
    await driver.start();
    drawComposer();
    await pass(clock, 200);
  });

  /** An input box, and what happens on Enter. */
  function onEnter(happens: () => void): void {
    pty.onTyped = (keys) => {
      if (keys.startsWith('\x1b[200~')) drawComposer('Go on.');
      if (keys === CTRL_C) drawComposer();
      if (keys === '\r') happens();
    };
  }

  /** Claude Code takes it as this prompt; resolves with what the hook is answered. */
  function takenAs(prompt: string): Promise<unknown> {
    return new Promise((resolve, reject) =>
      onEnter(() => {
        drawComposer();
        hook('UserPromptSubmit', { prompt }).then(resolve, reject);
      }),
    );
  }

  async function sends(text: string, ms = 300): Promise<string> {
    const sent = driver.send(text);
    await (ms > 1_000 ? pass(clock, ms, 500) : pass(clock, ms));
    return sent;
  }

  it('is pasted into the empty box, seen there, submitted, and sent when a hook reports it', async () => {
    void takenAs('Go[201~ on.\nNow.');
    expect(await sends('Go\x1b[201~ on.\x07\nNow.')).toBe('sent');
    expect(pty.typed.slice(-2)).toEqual(['\x1b[200~Go[201~ on.\nNow. \x1b[201~', '\r']);
  });

  it.each([
    ['a tab', 'all:\n\tcc x.c', 'all:\n    cc x.c'],
    ['the path of an image', 'like\n/p/shot.png\nhere', 'like\n[Image #1]\nhere'],
    ['a sign of a mode', '!ls', ' !ls'],
    [
      'a tab in a long text',
      `${'x'.repeat(900)}\ty`,
      `<pasted_content id="1">\n${'x'.repeat(900)}    y \n</pasted_content>`,
    ],
  ])('of which the terminal changes %s comes with its exact text', async (_what, text, prompt) => {
    const answer = takenAs(prompt);
    expect(await sends(text)).toBe('sent');
    expect(await answer).toMatchObject({
      hookSpecificOutput: { additionalContext: expect.stringMatching(new RegExp(`:\n${text}$`)) },
    });
  });

  it('that Claude Code frames, as it does with a long one, is exact', async () => {
    const answer = takenAs(
      '\n\n<pasted_content id="1">\nlint: exit code 1.\n\n$ lint \n</pasted_content id="1">\n',
    );
    expect(await sends('lint: exit code 1.\n\n$ lint')).toBe('sent');
    expect(await answer).toEqual({});
  });

  it.each([
    ['what a person typed', () => driver.terminal?.write('x'), 'Something else'],
    ['the end of a program in the background', () => undefined, '<task-notification>\n</task-notification>'],
  ])('is not %s', async (_what, before, prompt) => {
    const answer = takenAs(prompt);
    const sent = driver.send('Go on.');
    before();
    await pass(clock, 300);
    expect(await answer).toEqual({});
    await hook('UserPromptSubmit', { prompt: 'Go on.' });
    expect(await sent).toBe('sent');
  });

  it('of which no hook reports is one that Claude Code took as a command of its own', async () => {
    onEnter(() => drawComposer());
    expect(await sends('clear', 12_000)).toBe('command');
    // What comes later is somebody else's.
    expect(await hook('UserPromptSubmit', { prompt: 'clear\t' })).toEqual({});
  });

  it('that Enter leaves in the box is cleared away and not sent', async () => {
    onEnter(() => undefined);
    expect(await sends('Go on.', 12_000)).toBe('kept');
    expect(pty.typed.at(-1)).toBe(CTRL_C);
  });

  it('that ends the session is named as the cause of its end', async () => {
    onEnter(() => pty.exit());
    expect(await sends('quit')).toBe('left');
    expect(events.at(-1)).toMatchObject({
      exit: {
        code: 0,
        reason: 'Claude Code took "quit" for a word of its own to leave, and ended before its turn began.',
      },
    });
  });
});

describe('the end', () => {
  beforeEach(() => driver.start());

  /** What the session does when it is asked to leave. */
  const onLeave = (happens: () => void): void => {
    pty.onTyped = (keys) => {
      if (keys === CTRL_C) drawComposer();
      if (keys.startsWith('\x1b[200~')) drawComposer('/exit ');
      if (keys === '\r') happens();
    };
  };

  it('is caused as a person would, in the empty box', async () => {
    await play('composer-with-lines');
    pty.typed.length = 0;
    onLeave(() => pty.exit());
    const closed = driver.close();
    await pass(clock, 1_000);
    await closed;
    expect(pty.typed).toEqual([CTRL_C, '\x1b[200~/exit \x1b[201~', '\r']);
    expect(events.at(-1)).toEqual({ type: 'exited', exit: { code: 0 } });
    expect(killed).toEqual([]);
  });

  it('stops what still runs in the background, about which Claude Code asks', async () => {
    drawComposer();
    await pass(clock, 200);
    onLeave(() => {
      pty.draw([RULE, ' Background tasks run', '', '❯ 1. Exit and stop tasks', '  2. Stay']);
      onLeave(() => pty.exit());
    });
    const closed = driver.close();
    await pass(clock, 1_000);
    await closed;
    expect(killed).toEqual([]);
  });

  it('a session that does not leave is killed', async () => {
    drawComposer();
    await pass(clock, 200);
    const closed = driver.close();
    await pass(clock, 20_000, 500);
    await closed;
    expect(killed).toEqual([4242]);
    expect(events.at(-1)).toEqual({ type: 'exited', exit: { signal: 'SIGKILL' } });
  });

  it('nothing is typed after it', async () => {
    pty.exit();
    await pass(clock, 100);
    await expect(driver.send('x')).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING' });
    await expect(driver.interrupt()).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING' });
    await driver.close();
    expect(pty.typed).toEqual([]);
  });

  it('leaves no timer and no server', async () => {
    drawComposer();
    await pass(clock, 50);
    driver.dispose();
    expect(clock.timerCount).toBe(0);
    expect(pty.isDisposed).toBe(true);
    await expect(hook('Stop')).rejects.toThrow();
  });
});
