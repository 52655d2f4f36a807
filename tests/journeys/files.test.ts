// The specification of the delegation server: "Project Tools", "Filesystem Tools", "Filesystem Operations", "Security Model".
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { writeFiles } from '../harness/project-files.js';
import { sharedBridge } from '../harness/start-bridge.js';

/** No task is started here. */
const bridge = sharedBridge({ claude: process.execPath, projects: ['my-app'] });

const APP = "import React from 'react';\n\nexport function App() {\n  return <div>Hello</div>;\n}\n";
const MEGABYTE = 1024 * 1024;
const listingSchema = z.looseObject({ entries: z.array(z.looseObject({ name: z.string() })) });
const pageSchema = z.looseObject({ content: z.string(), cursor: z.string().optional() });

beforeAll(async () => {
  await writeFiles(bridge().project, {
    'src/components/Button.tsx': '',
    'src/utils/deep/er/est.ts': '',
    'src/App.tsx': APP,
    'src/index.ts': 'x'.repeat(156),
    'tests/App.test.tsx': '',
    'package.json': '{}\n',
    'tsconfig.json': '{}\n',
    'README.md': '# My app\n',
    '.gitignore': 'dist/\n*.log\n',
    '.env': 'KEY=1\n',
    '.claude/notes.md': '',
    'dist/main.js': '',
    'noise.log': '',
  });
});

type Arguments = Readonly<Record<string, unknown>>;

async function names(path: string, more: Arguments): Promise<string[]> {
  const { entries } = listingSchema.parse(await bridge().call('list_files', { path, ...more }));
  return entries.map(({ name }) => name);
}

/** The code of each refusal, or of what was not refused, by its call. */
async function refusals(calls: readonly (readonly [string, Arguments])[]): Promise<string[]> {
  const told = [];
  for (const [tool, args] of calls) {
    const { isError, content } = await bridge().mcp.callTool(tool, args);
    const code = isError === true ? /^\w+/.exec(content[0]?.text ?? '')?.[0] : 'not refused';
    told.push(`${tool} ${JSON.stringify(args)}: ${code}`.replaceAll(bridge().project, '~'));
  }
  return told;
}

/** A file page by page, as far as it is read, and the last page. */
async function allPages(path: string) {
  let content = '';
  let cursor: string | undefined;
  for (;;) {
    const page = pageSchema.parse(
      await bridge().call('read_file', { path, max_bytes: 450_000, ...(cursor !== undefined && { cursor }) }),
    );
    content += page.content;
    if (page.cursor === undefined || page.cursor === cursor) return { content, last: page };
    cursor = page.cursor;
  }
}

describe('set_active_project', () => {
  test('sets the project that later calls without a path, or with a relative one, mean', async () => {
    const path = bridge().project;
    expect(await bridge().call('set_active_project', { path })).toEqual({
      active_project: path,
      message: 'Active project set. Subsequent operations will use this path by default.',
    });
    expect(await bridge().call('list_files', { depth: 1 })).toMatchObject({ path });
    expect(await bridge().call('get_file_tree', {})).toMatchObject({ path });
    expect(await bridge().call('read_file', { path: 'src/App.tsx' })).toMatchObject({ content: APP });
    expect(await bridge().refusal('git_status', {})).toMatch(/^NOT_A_REPOSITORY: /);
  });

  test('is what a call without a path says to do first, where no project is active', async () => {
    const other = await bridge().another();
    for (const tool of ['list_files', 'get_file_tree', 'git_status', 'git_diff_stat', 'git_diff'])
      expect(await other.refusal(tool, {}), tool).toMatch(/^NO_ACTIVE_PROJECT: .*set_active_project/s);
  });
});

describe('list_files', () => {
  test('lists folders first, then files with their sizes, each by the alphabet, as deep as depth says', async () => {
    const { project } = bridge();
    const path = join(project, 'src');
    expect(await bridge().call('list_files', { path, depth: 1 })).toEqual({
      path,
      entries: [
        { name: 'components', type: 'directory' },
        { name: 'utils', type: 'directory' },
        { name: 'App.tsx', type: 'file', size: APP.length },
        { name: 'index.ts', type: 'file', size: 156 },
      ],
    });
    expect(await names(project, { depth: 5 })).toContain('src/utils/deep/er/est.ts');
    const asTheSettingSays = await names(project, {});
    expect(asTheSettingSays).toContain('src/utils');
    expect(asTheSettingSays).not.toContain('src/utils/deep');
  });

  test('leaves out hidden files, what .gitignore names, and dependencies and other noise without a rule', async () => {
    const shown = ['.claude', 'src', 'tests', 'package.json', 'README.md', 'tsconfig.json'];
    expect(await names(bridge().project, { depth: 1 })).toEqual(shown);
    const path = await bridge().newProject('no-gitignore');
    await writeFiles(path, {
      'node_modules/x/index.js': '',
      '__pycache__/a.txt': '',
      'a.pyc': '',
      '.DS_Store': '',
      'Thumbs.db': '',
      'a.py': '',
    });
    expect(await names(path, { depth: 5 })).toEqual(['a.py']);
    expect(await names(path, { depth: 1, ignored: true })).toEqual(
      expect.arrayContaining(['node_modules', '__pycache__', 'a.pyc', 'a.py']),
    );
  });
});

test('get_file_tree draws a tree as far as depth says, and tells what it leaves out', async () => {
  const path = bridge().project;
  const note = 'left out: 2 ignored, 2 hidden; ignored: true shows them';
  expect(await bridge().call('get_file_tree', { path, depth: 2 })).toEqual({
    path,
    note,
    tree: [
      `my-app/ [${note}]`,
      '├── .claude/',
      '│   └── notes.md',
      '├── src/',
      '│   ├── components/',
      '│   ├── utils/',
      '│   ├── App.tsx',
      '│   └── index.ts',
      '├── tests/',
      '│   └── App.test.tsx',
      '├── package.json',
      '├── README.md',
      '└── tsconfig.json',
    ].join('\n'),
  });
});

test('search_files finds lines, and in ignored files if asked', async () => {
  const path = await bridge().newProject('searched');
  await writeFiles(path, {
    '.gitignore': '*.log\n',
    'noise.log': 'export nothing\n',
    'src/main.ts': 'export {};\n',
  });
  const found = { path: 'src/main.ts', line: 1, column: 1, text: 'export {};' };
  expect(await bridge().call('search_files', { path, query: 'export' })).toEqual({
    path,
    matches: [found],
    note: 'Left out: 1 ignored; ignored: true shows them.',
  });
  const all = await bridge().call('search_files', { path, query: '^exp', regex: true, ignored: true });
  expect(all['matches']).toEqual(
    expect.arrayContaining([found, expect.objectContaining({ path: 'noise.log' })]),
  );
});

describe('read_file', () => {
  test('gives the whole file, its size and how many lines it has, also when these are more than a page', async () => {
    const path = join(bridge().project, 'src/App.tsx');
    expect(await bridge().call('read_file', { path })).toMatchObject({
      path,
      content: APP,
      lines: 5,
      size_bytes: Buffer.byteLength(APP),
    });
    const long = join(await bridge().newProject('long'), 'long.txt');
    await writeFile(long, 'a line of text\n'.repeat(5_000));
    expect(await bridge().call('read_file', { path: long })).toMatchObject({ lines: 5_000, truncated: true });
  });

  test('gives a longer file page by page, also of the worst characters, and of a larger one the first megabyte', async () => {
    const folder = await bridge().newProject('pages');
    const worst = '\u001b"\\'.repeat(200_000);
    await writeFile(join(folder, 'escapes.txt'), worst);
    expect((await allPages(join(folder, 'escapes.txt'))).content === worst).toBe(true);
    const text = `${'0123456789abcde\n'.repeat(MEGABYTE / 16)}beyond`;
    await writeFile(join(folder, 'large.txt'), text);
    const { content, last } = await allPages(join(folder, 'large.txt'));
    expect(content === text.slice(0, MEGABYTE)).toBe(true);
    expect(last).toMatchObject({ size_bytes: text.length });
    expect(last['note']).toContain('Only the first 1048576 bytes are read');
  });
});

test('read_file_range gives the lines from start_line to end_line, both included, as far as there are any', async () => {
  const path = join(bridge().project, 'src/App.tsx');
  const range = (start_line: number, end_line: number) =>
    bridge().call('read_file_range', { path, start_line, end_line });
  expect(await range(3, 4)).toMatchObject({
    path,
    start_line: 3,
    end_line: 4,
    content: 'export function App() {\n  return <div>Hello</div>;',
    total_lines: 5,
  });
  expect(await range(5, 25)).toMatchObject({ start_line: 5, end_line: 5, content: '}', total_lines: 5 });
});

test('a folder is made with its parents, a file written, read and written again, unless somebody changed it', async () => {
  const project = await bridge().newProject('written');
  const folder = join(project, 'src/parts');
  expect(await bridge().call('create_directory', { path: folder })).toEqual({
    path: folder,
    created: true,
    message: 'Directory created successfully.',
  });
  expect(await bridge().call('create_directory', { path: folder })).toMatchObject({ created: false });
  const path = join(project, 'docs/words.txt');
  const content = 'Grüße\r\n漢\r\n';
  const written = await bridge().call('write_file', { path, content });
  expect(written).toMatchObject({
    path,
    created: true,
    // Bytes, not characters.
    size_bytes: 14,
    message: 'File written successfully.',
  });
  expect(await readFile(path, 'utf8')).toBe(content);
  expect(await bridge().call('read_file', { path })).toMatchObject({ content, sha256: written['sha256'] });
  const again = { path, content: 'new', expected_sha256: written['sha256'] };
  expect(await bridge().call('write_file', again)).toMatchObject({ created: false, size_bytes: 3 });
  expect(await bridge().refusal('write_file', again)).toMatch(/^FILE_CHANGED: .*Nothing was written\./);
});

test('what cannot be listed, read, written or searched is refused by name', async () => {
  const path = bridge().project;
  const png = join(path, 'logo.png');
  // Binary is a file with a null byte in its first 8 KB.
  await writeFile(png, Buffer.concat([Buffer.alloc(8_191, 'a'), Buffer.from([0])]));
  expect(await bridge().refusal('read_file', { path: png })).toContain(
    `BINARY_FILE: Cannot read binary file: ${png}`,
  );
  expect(
    await refusals([
      ['set_active_project', { path: join(path, 'nowhere') }],
      ['list_files', { path, depth: 0 }],
      ['list_files', { path, depth: 6 }],
      ['get_file_tree', { path, depth: 0 }],
      ['get_file_tree', { path, depth: 6 }],
      ['search_files', { path, query: '(', regex: true }],
      ['read_file', { path: join(path, 'src') }],
      ['read_file', { path: join(path, 'none') }],
      ['read_file_range', { path: png, start_line: 1, end_line: 2 }],
      ['read_file_range', { path: join(path, 'src/App.tsx'), start_line: 0, end_line: 1 }],
      ['read_file_range', { path: join(path, 'src/App.tsx'), start_line: 1, end_line: 0 }],
      ['write_file', { path: join(path, '.git/hooks/pre-commit'), content: '' }],
      ['create_directory', { path: png }],
    ]),
  ).toEqual([
    'set_active_project {"path":"~/nowhere"}: PATH_NOT_FOUND',
    'list_files {"path":"~","depth":0}: INVALID_ARGUMENTS',
    'list_files {"path":"~","depth":6}: INVALID_ARGUMENTS',
    'get_file_tree {"path":"~","depth":0}: INVALID_ARGUMENTS',
    'get_file_tree {"path":"~","depth":6}: INVALID_ARGUMENTS',
    'search_files {"path":"~","query":"(","regex":true}: INVALID_ARGUMENTS',
    'read_file {"path":"~/src"}: NOT_A_FILE',
    'read_file {"path":"~/none"}: PATH_NOT_FOUND',
    'read_file_range {"path":"~/logo.png","start_line":1,"end_line":2}: BINARY_FILE',
    'read_file_range {"path":"~/src/App.tsx","start_line":0,"end_line":1}: INVALID_ARGUMENTS',
    'read_file_range {"path":"~/src/App.tsx","start_line":1,"end_line":0}: INVALID_ARGUMENTS',
    'write_file {"path":"~/.git/hooks/pre-commit","content":""}: PROTECTED_PATH',
    'create_directory {"path":"~/logo.png"}: NOT_A_DIRECTORY',
  ]);
});

test('init_git_repo makes a repository, and its folder if needed, says when there is one, and writes a .gitignore if asked', async () => {
  const path = join(await bridge().newProject('repository'), 'not-there-yet');
  expect(await bridge().call('init_git_repo', { path, gitignore: true })).toMatchObject({
    path,
    initialized: true,
    message: 'Git repository initialized.',
  });
  expect(await readFile(join(path, '.gitignore'), 'utf8')).toContain('node_modules/');
  expect(await bridge().call('git_status', { path })).toMatchObject({ path, untracked: ['.gitignore'] });
  expect(await bridge().call('init_git_repo', { path })).toMatchObject({
    path,
    initialized: false,
    message: 'Directory is already a git repository.',
  });
});

test('the allowed roots hold for every tool: a path outside is refused, and so is one that leaves them by ".." or a link; the roots are named, and may be below "~"', async () => {
  const tools: readonly (readonly [string, Arguments])[] = [
    ['set_active_project', {}],
    ['list_files', {}],
    ['get_file_tree', {}],
    ['search_files', { query: 'root' }],
    ['read_file', {}],
    ['read_file_range', { start_line: 1, end_line: 1 }],
    ['create_directory', {}],
    ['write_file', { content: '' }],
    ['init_git_repo', {}],
    ['git_status', {}],
    ['git_diff_stat', {}],
    ['git_diff', {}],
    ['start_task', { prompt: 'Nothing.' }],
  ];
  const inside = await bridge().newProject('inside');
  await symlink('/etc', join(inside, 'linked'));
  const outside = [
    '/etc/passwd',
    '/etc/no-such-file',
    `${inside}/../../../../../../../etc/passwd`,
    join(inside, 'linked/passwd'),
  ];
  const wrong = [];
  for (const [tool, args] of tools)
    for (const path of outside) {
      const refusal = await bridge().refusal(tool, { ...args, path });
      if (!refusal.startsWith('PATH_NOT_ALLOWED: ') || !refusal.includes(bridge().workplace.projectsDir))
        wrong.push(`${tool} ${path}: ${refusal}`);
    }
  expect(wrong).toEqual([]);
  const folder = join(bridge().workplace.homeDir, 'Projects');
  await mkdir(folder, { recursive: true });
  const other = await bridge().another('modern', { env: { MCP_ALLOWED_ROOTS: '~/Projects' } });
  const { active_project } = await other.call('set_active_project', { path: '~/Projects' });
  expect(active_project).toBe(folder);
});
