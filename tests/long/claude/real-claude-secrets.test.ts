import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeRealClaude, drivers } from '../../harness/real-claude.js';
import { writeFiles } from '../../harness/project-files.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const SECRET = 'swordfish-1234';

/** Denies so many decisions of a cautious task, and lets it end; what was asked about. */
async function denied(bridge: TestBridge, driver: string, count: number): Promise<string[]> {
  const id = await bridge.start({ prompt: 'Go.', permission_mode: 'cautious', driver });
  const asked: string[] = [];
  while (asked.length < count)
    asked.push((await bridge.answerNext(id, { verdict: 'deny', message: 'No.' })).summary);
  expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Done.' });
  return asked;
}

describeRealClaude('files of secrets in mode cautious', ({ binary }) => {
  it.each(drivers)('are asked about, and nothing of them is read after a no (%s)', async (driver) => {
    const reads = ['config/credentials.json', 'link.txt', 'deep/down/Service-Account-1.JSON', '.kube/config'];
    const lines = ['cat .env', 'head -1 config/credentials.json'];
    const project: { path: string } = { path: '' };
    let turn = 0;
    const bridge = await startBridge({
      claude: binary,
      script: () => {
        const names = ['.env.example', ...reads];
        const name = names[turn];
        const line = lines[turn - names.length];
        turn++;
        if (name !== undefined)
          return { tools: [{ name: 'Read', input: { file_path: join(project.path, name) } }] };
        return line === undefined ? says('Done.') : runs(line);
      },
    });
    project.path = bridge.project;
    const secrets = ['.env', 'config/credentials.json', 'deep/down/Service-Account-1.JSON', '.kube/config'];
    await writeFiles(bridge.project, Object.fromEntries(secrets.map((name) => [name, `${SECRET}\n`])));
    await writeFiles(bridge.project, { '.env.example': 'an example\n' });
    await symlink('.env', join(bridge.project, 'link.txt'));
    const asked = await denied(bridge, driver, reads.length + lines.length);
    expect(asked).toHaveLength(reads.length + lines.length);
    expect(bridge.told().filter((text) => text.includes(SECRET))).toEqual([]);
    expect(bridge.told().filter((text) => text.includes('an example'))).toHaveLength(1);
  });
});

describeRealClaude('files that run later or instruct later sessions in mode cautious', ({ binary }) => {
  it.each(drivers)(
    'are asked about also where the user allows Claude Code every edit; the bridge’s own are denied (%s)',
    async (driver) => {
      const asked = ['CLAUDE.md', '.github/workflows/ci.yml', 'sub/Agents.MD'];
      const names = ['docs/plain.md', ...asked];
      const places: { all: string[] } = { all: [] };
      const bridge = await startBridge({
        claude: binary,
        userSettings: { permissions: { allow: ['Edit', 'Write'] } },
        script: (request) => {
          const path = request.kind === 'turn' ? places.all.shift() : undefined;
          return path === undefined
            ? says('Done.')
            : { tools: [{ name: 'Write', input: { file_path: path, content: 'written' } }] };
        },
      });
      const own = join(bridge.workplace.homeDir, '.config/mcp-claude-bridge/config.json');
      places.all = [...names.map((name) => join(bridge.project, name)), own];
      expect(await denied(bridge, driver, asked.length)).toHaveLength(asked.length);
      expect(await readFile(join(bridge.project, 'docs/plain.md'), 'utf8')).toBe('written');
      expect(
        [...asked.map((name) => join(bridge.project, name)), own].filter((path) => existsSync(path)),
      ).toEqual([]);
    },
  );
});

describeRealClaude('the environment of commands', ({ binary }) => {
  it.each(drivers)('holds neither the token of the hooks nor the key of the session (%s)', async (driver) => {
    const bridge = await startBridge({
      claude: binary,
      script: [runs('env; tr "\\0" "\\n" < /proc/self/environ; echo shown'), says('Done.')],
    });
    const id = await bridge.start({ prompt: 'Go.', driver });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'Done.' });
    const [shown = ''] = bridge.told();
    expect(shown).toContain('shown');
    expect(shown).toContain('ANTHROPIC_BASE_URL');
    expect(shown).not.toMatch(/ANTHROPIC_API_KEY|CLAUDE_CODE_BRIDGE_HOOK_TOKEN/);
  });
});
