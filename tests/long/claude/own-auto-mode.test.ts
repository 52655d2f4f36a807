import { expect, it } from 'vitest';
import { describeRealClaude } from '../../harness/real-claude.js';
import { program } from '../../harness/scripted-agent.js';
import { asks, runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

describeRealClaude('mode claude', ({ binary }) => {
  it('leaves calls to Claude Code’s own auto mode, which lets through what stays in the project and denies what it cannot check', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [
        runs('touch inside.txt'),
        runs('node -e "process.exit(0)"'),
        asks('Which?', ['a', 'b']),
        says('Done.'),
      ],
    });
    const id = await bridge.start({ permission_mode: 'claude' });
    expect(await bridge.answerNext(id, { verdict: 'allow', answers: { Choice: 'a' } })).toMatchObject({
      kind: 'question',
    });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect(bridge.has('inside.txt')).toBe(true);
    // The check runs at the API, and a scripted one has none.
    expect((await bridge.output(id, 'log')).text).toMatch(
      /Bash\(node .*failed: Auto mode is unavailable: its safety check does not run/,
    );
  });

  it('asks about each call, and says so, where Claude Code has no auto mode', async () => {
    const bridge = await startBridge({
      claude: binary,
      userSettings: { disableAutoMode: 'disable' },
      script: [runs('touch asked.txt'), says('Done.')],
    });
    const id = await bridge.start({ permission_mode: 'claude' });
    expect(await bridge.answerNext(id, { verdict: 'allow' })).toMatchObject({
      summary: 'Bash(touch asked.txt)',
    });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expect((await bridge.output(id, 'log')).text).toContain(
      'Claude Code reports that it has no auto mode here',
    );
  });

  it.each(['auto', 'cautious', 'claude'] as const)(
    'a version that was never run is used in mode %s',
    async (mode) => {
      const text = `[ "$1" = --version ] && echo '9.9.9 (Claude Code)' && exit 0\nexec '${binary}' "$@"`;
      const script = [runs('touch made.txt'), says('Done.')];
      const bridge = await startBridge({ claude: program('claude', text), script });
      const id = await bridge.start({ permission_mode: mode });
      if (mode === 'cautious') await bridge.answerNext(id, { verdict: 'allow' });
      expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
      expect(bridge.has('made.txt')).toBe(true);
    },
  );
});
