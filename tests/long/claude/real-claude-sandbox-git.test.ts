import { expect, it } from 'vitest';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { gitIn, repository, writeFiles } from '../../harness/project-files.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const SECRET = 'LEAKED-7731';

/** Git says so where there is no such file: a masked one cannot be read. */
const MASKED = /^warning: unable to access '\.gitattributes': Permission denied\n?/gm;

/** What the commands of the task printed, one text each. */
function printed(bridge: TestBridge): string[] {
  return bridge.told().map((text) => text.replaceAll(MASKED, '').trim());
}

const FILES = { 'a.txt': 'a', 'CLAUDE.md': 'as it was', '.gitignore': '.env\n' };
const COMMIT = 'git add -A && git -c user.name=a -c user.email=a@a.invalid commit -qm';
const STASH = 'git -c user.name=a -c user.email=a@a.invalid stash';
const work = [
  runs('mkdir -p src && echo made > src/made.txt && git status --porcelain'),
  runs(`${COMMIT} work && git show --format= --name-only HEAD`),
  runs(
    `echo more > more.txt; echo ignored > x.own; cd src; git status --porcelain; git add . ; ${STASH} -u -q`,
  ),
  runs(`${STASH} pop -q > /dev/null; cd ..; git add . && git status --porcelain`),
];

/** Of a task that did `work`. */
function expectOrdinaryGit([status, committed, inFolder, added]: readonly string[]): void {
  expect(status).toBe('?? src/');
  expect(committed).toBe('src/made.txt');
  expect(inFolder).toBe('?? more.txt');
  expect(added).toBe('A  more.txt');
}

describeNewestClaude('git in the sandbox', ({ binary }) => {
  it('sees and commits the files of the agent, and nothing that the sandbox masks', async () => {
    const bridge = await startBridge({
      claude: binary,
      script: [
        ...work,
        { tools: [{ name: 'Write', input: { file_path: 'AGENTS.md', content: 'allowed' } }] },
        runs(`${COMMIT} real && git show --format= --name-only HEAD`),
        says('Done.'),
      ],
    });
    await writeFiles(bridge.workplace.homeDir, { '.config/git/ignore': '*.own\n' });
    await repository(bridge.project, FILES);
    // Secrets that nobody ignores.
    await writeFiles(bridge.project, { 'deep/er/x.pem': SECRET, 'deep/er/[1].key': SECRET });
    const id = await bridge.start({ prompt: 'Go.', permission_mode: 'sandboxed', driver: 'print' });
    const asked = await bridge.decision(id);
    expect(asked.summary).toBe('Write(AGENTS.md)');
    await bridge.call('respond_to_task', { task_id: id, decision_id: asked.decision_id, verdict: 'allow' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    expectOrdinaryGit(printed(bridge));
    // What is made with a person's leave is a file as any other.
    expect(printed(bridge).at(-1)).toMatch(/AGENTS.md\nmore.txt$/);
    expect(gitIn(bridge.project, 'log', '--format=%s')).toBe('real\nwork\nfirst\n');
  });
});
