import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { offerTrust, runTrust } from '../../src/cli/trust.js';
import { gitIn, writeFiles } from '../harness/project-files.js';
import { sleepingSettings, trustIn } from '../../src/keeper/agent/project-settings.js';
import { verdictOfEdit } from '../keeper/verdict-of-edit.js';
import { tempFolder } from '../harness/temp-folder.js';

const hashes = z.record(z.string(), z.string());
const settingsSchema = z.object({
  projects: z.record(z.string(), z.object({ trust: hashes.optional() })).default({}),
});
let folder: string;
let project: string;
let config: string;
let said: string;

beforeEach(async () => {
  folder = await tempFolder();
  project = join(folder, 'project');
  config = join(folder, 'config.json');
  said = '';
  await writeFile(config, '{\n  // of the person\n  "allowed_roots": ["/nowhere"]\n}\n');
  const hook = (command: string) => ({ PostToolUse: [{ hooks: [{ type: 'command', command }] }] });
  const hooks = hook(
    'sh "$PWD"/scripts/format.sh; cd tools && ./lint.sh ../outside /etc/hosts notes/later.sh',
  );
  await given(
    '.claude/settings.json',
    JSON.stringify({ hooks, env: { A: 'b' }, permissions: { deny: ['Bash(rm *)'] } }),
  );
  await given('.claude/skills/plan/SKILL.md', 'Plan.');
  await given(
    '.mcp.json',
    JSON.stringify({ mcpServers: { db: { command: 'node', args: ['db.js'], cwd: 'servers' } } }),
  );
  await given('scripts/format.sh', 'true');
  await given('servers/db.js', '');
  await given('tools/lint.sh', '');
  await given('src/other.js', '');
});

async function given(name: string, text: string): Promise<void> {
  await mkdir(dirname(join(project, name)), { recursive: true });
  await writeFile(join(project, name), text);
}

async function trust(
  answer: boolean,
  more: { remove?: boolean; env?: NodeJS.ProcessEnv } = {},
): Promise<number> {
  said = '';
  const questions = { confirm: () => Promise.resolve(answer) };
  const write = (text: string) => void (said += text);
  return runTrust({ env: {}, homeDir: folder, configPath: config, path: project, write, questions, ...more });
}

async function trusted(): Promise<Readonly<Record<string, string>> | undefined> {
  const lines = (await readFile(config, 'utf8')).replace(/^ *\/\/.*$/gm, '');
  return settingsSchema.parse(JSON.parse(lines)).projects[project]?.trust;
}

const ALL = [
  '.claude/settings.json',
  '.claude/skills/plan/SKILL.md',
  '.mcp.json',
  'scripts/format.sh',
  'servers/db.js',
  'tools/lint.sh',
];

test('a person sees what a project configures and the files that it is made of, scripts that it names too, and trusts them as they are', async () => {
  expect(await trust(false)).toBe(0);
  for (const name of [...ALL, 'hooks (.claude/settings.json)', 'MCP server db (.mcp.json)'])
    expect(said).toContain(`  ${name}\n`);
  expect(said).not.toMatch(/other\.js|\.\.\/outside|etc\/hosts/);
  expect(await trusted()).toBeUndefined();
  expect(await trust(true)).toBe(0);
  expect(Object.keys((await trusted()) ?? {})).toEqual(ALL);
  expect(await readFile(config, 'utf8')).toContain('// of the person');
  const own = await sleepingSettings(project);
  expect(trustIn(own, await trusted())).toBe('trusted');
  // A task is asked before it writes there.
  for (const name of ['tools/lint.sh', 'scripts/format.sh', 'notes/later.sh', '.claude/agents'])
    expect(own.places).toContain(join(project, name));
  await trust(true);
  expect(said).toContain('it is trusted as it is');
});

test.each([
  'bash "$(git rev-parse --show-toplevel)/tools/lint.sh"',
  'bash "${CLAUDE_PROJECT_DIR:-.}/tools/lint.sh"',
  'bash ~/any/project/tools/lint.sh',
  'cd deep && cd er && ../../tools/lint.sh',
  'bash "$PWD/more tools/lint it.sh"',
])('the script that `%s` runs is trusted as it is', async (command) => {
  await given('more tools/lint it.sh', '');
  await given('deep/er/x', '');
  const hooks = { Stop: [{ hooks: [{ type: 'command', command }] }] };
  await given('.claude/settings.json', JSON.stringify({ hooks }));
  const script = join(project, command.includes('more') ? 'more tools/lint it.sh' : 'tools/lint.sh');
  const { files, places } = await sleepingSettings(project);
  expect(Object.keys(files ?? {})).toContain(relative(project, script));
  expect(places).toContain(script);
  // As git's own configuration would name it, for an alias.
  spawnSync('git', ['init', '-q', project]);
  spawnSync('git', ['-C', project, 'config', 'alias.x', `!${command}`]);
  expect(await verdictOfEdit(project, script)).toBe('ask');
});

test('a configuration that names more than is checked is not trusted', async () => {
  const env = Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [`N${at}`, `n${at}`]));
  await given('.claude/settings.json', JSON.stringify({ env }));
  await expect(trust(true)).rejects.toThrow('too many files');
});

test('rules for some paths alone are named as left out, others are not', async () => {
  await given('.claude/rules/plain.md', 'paths: of gardens');
  await given('.claude/rules/more/list.md', '---\npaths:\n  - "src/**"\n---\nBe brief.');
  await given('.claude/rules/text.md', '\uFEFF---\r\n"paths": src/*\r\n---\r\nBe brief.');
  await given('.claude/rules/other.md', '---\ndescription: "paths: of gardens"\n---\nBe brief.');
  const { leftOut } = await sleepingSettings(project);
  expect(leftOut.filter((name) => name.includes('rules'))).toEqual([
    '.claude/rules/more/list.md',
    '.claude/rules/text.md',
  ]);
});

test('no git of the project is started, also where PATH names a folder by its name alone', async () => {
  await given('bin/git', `#!/bin/sh\ntouch '${folder}/it-ran'\n`);
  await chmod(join(project, 'bin', 'git'), 0o755);
  vi.stubEnv('PATH', `bin:${process.env['PATH'] ?? ''}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  await Promise.all([sleepingSettings(project), verdictOfEdit(project, 'a')]);
  expect(existsSync(join(folder, 'it-ran'))).toBe(false);
});

test('the last part of the address of a repository counts for no folder', async () => {
  spawnSync('git', ['init', '-q', project]);
  spawnSync('git', ['-C', project, 'remote', 'add', 'origin', 'https://host.test/team/tools']);
  expect(await verdictOfEdit(project, join(project, 'tools', 'lint.sh'))).toBe('allow');
});

test.each(ALL)('a change of %s ends the trust, and is named', async (name) => {
  await trust(true);
  await writeFile(
    join(project, name),
    name.endsWith('.json') ? `${await readFile(join(project, name), 'utf8')} ` : 'other',
  );
  expect(trustIn(await sleepingSettings(project), await trusted())).toEqual([name]);
  await trust(false);
  expect(said).toContain(`  ${name}   changed since you trusted it\n`);
});

test('a new file of the configuration ends the trust, other files do not', async () => {
  await trust(true);
  await given('src/more.js', '');
  expect(trustIn(await sleepingSettings(project), await trusted())).toBe('trusted');
  await given('tools/more.sh', 'x');
  expect(trustIn(await sleepingSettings(project), await trusted())).toBe('trusted');
  await given('.claude/skills/more/SKILL.md', 'x');
  expect(trustIn(await sleepingSettings(project), await trusted())).toEqual(['.claude/skills/more/SKILL.md']);
});

test('what cannot be hashed is named, and nothing is trusted', async () => {
  await symlink('../../src', join(project, '.claude', 'skills', 'linked'));
  await expect(trust(true)).rejects.toThrow('has what cannot be hashed: .claude/skills/linked.');
  expect(await trusted()).toBeUndefined();
});

test('the rules of the main checkout count in each worktree and folder of it, which have its trust while its file is the same', async () => {
  const local = (...deny: string[]) =>
    given('.claude/settings.local.json', JSON.stringify({ permissions: { deny } }));
  for (const line of ['init -q', 'add .', 'commit -qm first', 'worktree add -q ../beside'])
    gitIn(project, ...line.split(' '));
  const beside = join(folder, 'beside');
  await local('Read(plan.txt)');
  await trust(true);
  const rulesIn = async (...[place, madeFrom]: [string, string?]) =>
    (await sleepingSettings(place, madeFrom)).rules.map(({ rule }) => rule);
  expect(await rulesIn(beside)).toEqual(['Bash(rm *)', 'Read(plan.txt)']);
  for (const place of [project, beside])
    expect(await rulesIn(join(place, 'src'))).toEqual(['Read(plan.txt)']);
  expect(await rulesIn(folder, project)).toEqual(['Read(plan.txt)']);
  expect(trustIn(await sleepingSettings(beside), await trusted())).toBe('trusted');
  await writeFiles(beside, { '.claude/settings.local.json': '{}' });
  const changed = ['../project/.claude/settings.local.json', '.claude/settings.local.json'];
  expect(trustIn(await sleepingSettings(beside), await trusted())).toEqual(changed);
  await rm(join(beside, '.claude', 'settings.local.json'));
  await local('Read(other.txt)');
  expect(trustIn(await sleepingSettings(beside), await trusted())).toEqual(changed.slice(1));
  await given('.claude/settings.local.json', '{');
  await expect(rulesIn(beside)).rejects.toThrow(`${join(project, changed[1] ?? '')} cannot be read`);
});

test('settings that cannot be read are named, and a mark of UTF-8 or a depth is no reason', async () => {
  const file = join(project, '.claude/settings.json');
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);
  await writeFile(file, `\uFEFF{"permissions":{"deny":["Read"]},"env":${deep}}`);
  expect(await sleepingSettings(project)).toMatchObject({ rules: [{ rule: 'Read', verdict: 'deny' }] });
  await rm(file);
  await symlink('settings.json', file);
  await expect(sleepingSettings(project)).rejects.toThrow(`${file} cannot be read`);
});

test('trust is taken back, and given by nobody without a terminal', async () => {
  await trust(true);
  expect(await trust(true, { remove: true })).toBe(0);
  expect(await trusted()).toBeUndefined();
  const again = JSON.stringify({ [`${project}/`]: { trust: {} } });
  await trust(true, { remove: true, env: { MCP_PROJECTS: again } });
  expect(said).toContain('Still trusted, by another entry');
  const options = { env: {}, homeDir: folder, configPath: config, path: project, write: () => undefined };
  await expect(runTrust({ ...options, questions: undefined })).rejects.toThrow(
    'Only a person can trust a project',
  );
  expect(await trusted()).toBeUndefined();
});

test('init offers it for a folder in an allowed root that configures something', async () => {
  const offer = async (path: string): Promise<string> => {
    said = '';
    const questions = { confirm: () => Promise.resolve(false) };
    const write = (text: string) => void (said += text);
    await offerTrust({ env: {}, homeDir: '/home/other', configPath: config, path, write, questions });
    return said;
  };
  expect(await offer(project)).toBe('');
  await writeFile(config, JSON.stringify({ allowed_roots: [folder] }));
  expect(await offer(project)).toContain('MCP server db (.mcp.json)');
  expect(await offer(join(project, 'src'))).toBe('');
});
