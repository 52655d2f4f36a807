import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HOOK_TOKEN_VARIABLE } from '../../src/claude/hooks/hook-settings.js';
import { OLDEST_SUPPORTED_VERSION } from '../../src/claude/installation.js';
import { CLAUDE_VERSIONS } from '../../src/cli/demo/fetch-claude.js';
import { configKeys, factsOf } from '../../src/config/schema.js';
import { SETTINGS_FILE_VARIABLE } from '../../src/config/settings-file.js';
import { isForModels } from '../../src/mcp/apps.js';
import { MARK_VARIABLE } from '../../src/os/mark-variable.js';
import { allPrompts } from '../../src/prompts/registry.js';
import { allResources } from '../../src/resources/registry.js';
import { permissionModes, taskStatuses } from '../../src/tasks/task.js';
import { enabledTools } from '../../src/tools/registry.js';
import { toolsets } from '../../src/tools/toolsets.js';

const toolNames = enabledTools('all')
  .filter(isForModels)
  .map((tool) => tool.name);
const root = resolve(import.meta.dirname, '..', '..');
const pages = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'docs/architecture.md',
  'docs/containers.md',
  'docs/dependencies.md',
  'docs/guide.md',
  'docs/native.md',
  'docs/performance.md',
  'docs/process-containers.md',
  'tests/specification/deviations.md',
  'docs/releasing.md',
  'docs/reliability.md',
];
/** What a person reads before trying it. */
const MAX_README_LINES = 160;
const MAX_PERFORMANCE_LINES = 80;
/** Rows of tables are longer. */
const MAX_LINE_CHARS = 300;

const packageSchema = z.object({
  files: z.array(z.string()),
  scripts: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Names that the page does not hold as code: `name`, alone between backticks. */
function unnamed(page: string, names: readonly string[]): readonly string[] {
  const text = read(page);
  return names.filter((name) => !text.includes(`\`${name}\``));
}

function manifest(): z.infer<typeof packageSchema> {
  return packageSchema.parse(JSON.parse(read('package.json')));
}

describe('README.md', () => {
  test('names every tool', () => {
    expect(unnamed('README.md', toolNames)).toEqual([]);
  });

  test('names every toolset and permission mode', () => {
    expect(unnamed('README.md', [...Object.keys(toolsets), ...permissionModes])).toEqual([]);
  });

  test('names the versions of Claude Code that are driven', () => {
    const text = read('README.md');
    const missing = [...CLAUDE_VERSIONS, OLDEST_SUPPORTED_VERSION].filter(
      (version) => !text.includes(version),
    );
    expect(missing).toEqual([]);
  });

  test('has the command of the demo, and that of all tests, which is what .ci/run calls', () => {
    const last = read('.ci/run').trim().split('\n').at(-1);
    const commands = [...read('README.md').matchAll(/```bash\n([^]*?)\n```/g)].map((match) => match[1]);
    expect(commands).toEqual(['npm ci && npm run demo', last]);
  });

  test('is short', () => {
    const lines = read('README.md').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(MAX_README_LINES);
    expect(lines.filter((line) => !line.startsWith('|') && line.length > MAX_LINE_CHARS)).toEqual([]);
  });

  test('links to nothing that the package leaves out', () => {
    const { files } = manifest();
    const alwaysPacked = ['LICENSE', 'README.md', 'package.json'];
    const targets = [...withoutFences(read('README.md')).matchAll(/\]\(([^)\s#]+)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !/^https?:/.test(target));
    const missing = targets.filter(
      (target) => ![...files, ...alwaysPacked].some((one) => target === one || target.startsWith(`${one}/`)),
    );
    expect(missing).toEqual([]);
  });
});

describe('docs/guide.md', () => {
  test('names every toolset, resource, prompt, permission mode and status', () => {
    const uris = allResources.map((resource) => resource.uri);
    const prompts = allPrompts.map((prompt) => prompt.name);
    expect(
      unnamed('docs/guide.md', [
        ...Object.keys(toolsets),
        ...uris,
        ...prompts,
        ...permissionModes,
        ...taskStatuses,
      ]),
    ).toEqual([]);
  });

  test('names the variables that a task is given', () => {
    expect(unnamed('docs/guide.md', [MARK_VARIABLE, HOOK_TOKEN_VARIABLE])).toEqual([]);
  });
});

test('docs/settings.md names every setting and every environment variable', () => {
  const text = read('docs/settings.md');
  const variables = [...configKeys.map((key) => factsOf(key).env), SETTINGS_FILE_VARIABLE];
  expect([...configKeys, ...variables].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test('docs/performance.md is short', () => {
  const lines = read('docs/performance.md').trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(MAX_PERFORMANCE_LINES);
});

test('docs/dependencies.md gives a reason for every dependency, and for no other', () => {
  const { dependencies, devDependencies, peerDependencies } = manifest();
  const names = new Set(
    [dependencies, devDependencies, peerDependencies].flatMap((group) => Object.keys(group)),
  );
  const [used = ''] = read('docs/dependencies.md').split('## What is not used');
  const rows = [...used.matchAll(/^\| (`.+?`) +\|/gm)].flatMap((row) =>
    [...(row[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  );
  expect([...new Set(rows)].toSorted()).toEqual([...names].toSorted());
});

test('docs/architecture.md has a row for every folder of src', () => {
  const folders = new Set(allSourceFolders());
  const table = /## Layers\n([^]*?)\n`zod`/.exec(read('docs/architecture.md'))?.[1] ?? '';
  const rows = [...table.matchAll(/^\| (`.+?`) +\|/gm)].flatMap((row) =>
    [...(row[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  );
  expect(rows.filter((row) => !row.endsWith('.ts')).toSorted()).toEqual([...folders].toSorted());
});

describe.each(pages)('%s', (page) => {
  test('has no link that leads nowhere', () => {
    const text = withoutFences(read(page));
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !/^https?:\/\//.test(target) && !leadsSomewhere(page, target));
    expect(broken).toEqual([]);
  });

  test('names no npm script that does not exist', () => {
    const { scripts } = manifest();
    const named = [...read(page).matchAll(/npm run (?:--silent )?([a-z0-9:-]+)/g)].map(
      (match) => match[1] ?? '',
    );
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  test('names no file of the source that does not exist', () => {
    const named = [...read(page).matchAll(/`((?:src|tests|scripts|docs)\/[A-Za-z0-9_./-]+)`/g)].map(
      (match) => match[1] ?? '',
    );
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

function allSourceFolders(): readonly string[] {
  return readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : relative(root, resolve(root, dirname(page), path));
  if (!existsSync(join(root, file))) return false;
  return anchor === undefined || anchorsOf(withoutFences(read(file))).includes(anchor);
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function withoutFences(text: string): string {
  return text.replace(/^```[^]*?^```/gm, '');
}
