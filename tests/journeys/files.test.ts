// The specification of the delegation server: "Project Tools", "Filesystem Tools", "Filesystem Operations", "Security Model".
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
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

async function names(path: string, depth: number): Promise<string[]> {
  const { entries } = listingSchema.parse(await bridge().call('list_files', { path, depth }));
  return entries.map(({ name }) => name);
}

/** The whole first megabyte of a file, page by page, and the last page. */
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
  test('sets the project that later calls without a path mean', async () => {
    const path = bridge().project;
    expect(await bridge().call('set_active_project', { path })).toEqual({
      active_project: path,
      message: 'Active project set. Subsequent operations will use this path by default.',
    });
    expect(await bridge().call('list_files', { depth: 1 })).toMatchObject({ path });
    expect(await bridge().call('get_file_tree', {})).toMatchObject({ path });
    expect(await bridge().refusal('git_status', {})).toMatch(/^NOT_A_REPOSITORY: /);
  });

  test('refuses a path outside the allowed roots, and one that does not exist', async () => {
    expect(await bridge().refusal('set_active_project', { path: '/etc/passwd' })).toMatch(
      /^PATH_NOT_ALLOWED: .*is not within/,
    );
    expect(await bridge().refusal('set_active_project', { path: join(bridge().project, 'nowhere') })).toMatch(
      /^PATH_NOT_FOUND: /,
    );
  });

  test('without an active project and without a path a call says what to do first', async () => {
    const other = await bridge().another();
    for (const tool of ['list_files', 'get_file_tree', 'git_status', 'git_diff_stat', 'git_diff'])
      expect(await other.refusal(tool, {})).toMatch(/^NO_ACTIVE_PROJECT: .*set_active_project/s);
  });
});

describe('list_files', () => {
  test('lists folders first, then files with their sizes, each by the alphabet', async () => {
    const path = join(bridge().project, 'src');
    expect(await bridge().call('list_files', { path, depth: 1 })).toEqual({
      path,
      entries: [
        { name: 'components', type: 'directory' },
        { name: 'utils', type: 'directory' },
        { name: 'App.tsx', type: 'file', size: APP.length },
        { name: 'index.ts', type: 'file', size: 156 },
      ],
    });
  });

  test('leaves out what .gitignore names and hidden files, and shows .claude', async () => {
    expect(await names(bridge().project, 1)).toEqual([
      '.claude',
      'src',
      'tests',
      'package.json',
      'README.md',
      'tsconfig.json',
    ]);
  });

  test('leaves out node_modules, __pycache__, *.pyc, .DS_Store and Thumbs.db without a .gitignore', async () => {
    const path = await bridge().workplace.project('no-gitignore');
    await writeFiles(path, {
      'node_modules/x/index.js': '',
      '__pycache__/a.txt': '',
      'a.pyc': '',
      '.DS_Store': '',
      'Thumbs.db': '',
      'a.py': '',
    });
    expect(await names(path, 5)).toEqual(['a.py']);
  });

  test('goes as deep as depth says, and as default_tree_depth when it is left out', async () => {
    const { project } = bridge();
    expect(await names(project, 1)).not.toContain('src/components');
    expect(await names(project, 5)).toContain('src/utils/deep/er/est.ts');
    const { entries } = listingSchema.parse(await bridge().call('list_files', { path: project }));
    const listed = entries.map(({ name }) => name);
    expect(listed).toContain('src/utils');
    expect(listed).not.toContain('src/utils/deep');
  });

  test.each(['list_files', 'get_file_tree'])('%s refuses a depth below 1 or above 5', async (tool) => {
    for (const depth of [0, 6])
      expect(await bridge().refusal(tool, { path: bridge().project, depth })).toMatch(
        /^INVALID_ARGUMENTS: .*depth/,
      );
  });
});

describe('get_file_tree', () => {
  test('draws a tree as far as depth says, without what .gitignore names', async () => {
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
});

describe('read_file', () => {
  test('gives the whole file with its lines and its size', async () => {
    const path = join(bridge().project, 'src/App.tsx');
    expect(await bridge().call('read_file', { path })).toMatchObject({
      path,
      content: APP,
      lines: 5,
      size_bytes: Buffer.byteLength(APP),
    });
  });

  test('takes a path relative to the active project', async () => {
    await bridge().call('set_active_project', { path: bridge().project });
    expect(await bridge().call('read_file', { path: 'src/App.tsx' })).toMatchObject({ content: APP });
  });

  test('refuses a binary file: one with a null byte in its first 8 KB', async () => {
    const path = join(bridge().project, 'logo.png');
    await writeFile(path, Buffer.concat([Buffer.alloc(8_191, 'a'), Buffer.from([0])]));
    expect(await bridge().refusal('read_file', { path })).toContain(
      `BINARY_FILE: Cannot read binary file: ${path}`,
    );
    expect(await bridge().refusal('read_file_range', { path, start_line: 1, end_line: 2 })).toContain(
      `BINARY_FILE: Cannot read binary file: ${path}`,
    );
  });

  test('gives the first megabyte of a larger file and says that it was cut', async () => {
    const path = join(bridge().project, 'large.txt');
    const text = `${'0123456789abcde\n'.repeat(MEGABYTE / 16)}beyond`;
    await writeFile(path, text);
    const { content, last } = await allPages(path);
    expect(content.slice(0, MEGABYTE)).toBe(text.slice(0, MEGABYTE));
    expect(content).not.toContain('beyond');
    expect(last).toMatchObject({ size_bytes: text.length });
    expect(last['note']).toContain('Only the first 1048576 bytes are read');
  });

  test('says how many lines a file has, also when it is longer than a page', async () => {
    const path = join(bridge().project, 'long.txt');
    await writeFile(path, 'a line of text\n'.repeat(5_000));
    expect(await bridge().call('read_file', { path })).toMatchObject({ lines: 5_000 });
  });

  test('of a folder is an error', async () => {
    expect(await bridge().refusal('read_file', { path: join(bridge().project, 'src') })).toMatch(
      /^NOT_A_FILE: /,
    );
  });
});

describe('read_file_range', () => {
  const range = (path: string, start_line: number, end_line: number) =>
    bridge().call('read_file_range', { path: join(bridge().project, path), start_line, end_line });

  test('gives the lines from start_line to end_line, both included, and how many there are', async () => {
    expect(await range('src/App.tsx', 3, 4)).toMatchObject({
      path: join(bridge().project, 'src/App.tsx'),
      start_line: 3,
      end_line: 4,
      content: 'export function App() {\n  return <div>Hello</div>;',
      total_lines: 5,
    });
  });

  test('ends with the file when end_line lies behind it', async () => {
    expect(await range('src/App.tsx', 5, 25)).toMatchObject({
      start_line: 5,
      end_line: 5,
      content: '}',
      total_lines: 5,
    });
  });

  test('refuses a line below 1', async () => {
    await expect(range('src/App.tsx', 0, 1)).rejects.toThrow(/^INVALID_ARGUMENTS: .*start_line/);
    await expect(range('src/App.tsx', 1, 0)).rejects.toThrow(/^INVALID_ARGUMENTS: .*end_line/);
  });
});

describe('create_directory', () => {
  test('makes the folder with its parents', async () => {
    const path = join(bridge().project, 'new-project/src/components');
    expect(await bridge().call('create_directory', { path })).toEqual({
      path,
      created: true,
      message: 'Directory created successfully.',
    });
    await writeFile(join(path, 'made.txt'), '');
  });

  test('of a folder that is there says that nothing was made', async () => {
    expect(await bridge().call('create_directory', { path: join(bridge().project, 'src') })).toMatchObject({
      created: false,
    });
  });
});

describe('write_file', () => {
  test('writes the file, makes its parents and gives its size', async () => {
    const path = join(bridge().project, 'written/README.md');
    const content = '# My New Project\n\nThis is a new project.\n';
    expect(await bridge().call('write_file', { path, content })).toMatchObject({
      path,
      size_bytes: Buffer.byteLength(content),
      message: 'File written successfully.',
    });
    expect(await readFile(path, 'utf8')).toBe(content);
  });

  test('counts bytes, not characters', async () => {
    const path = join(bridge().project, 'written/words.txt');
    expect(await bridge().call('write_file', { path, content: 'Grüße 漢' })).toMatchObject({
      size_bytes: 11,
    });
  });
});

describe('init_git_repo', () => {
  test('makes a repository, and says when there is one', async () => {
    const path = await bridge().workplace.project('new-repository');
    expect(await bridge().call('init_git_repo', { path })).toMatchObject({
      path,
      initialized: true,
      message: 'Git repository initialized.',
    });
    expect(await bridge().call('init_git_repo', { path })).toMatchObject({
      path,
      initialized: false,
      message: 'Directory is already a git repository.',
    });
  });

  test('makes the folder if needed', async () => {
    const path = join(bridge().workplace.projectsDir, 'not-there-yet');
    expect(await bridge().call('init_git_repo', { path })).toMatchObject({ path, initialized: true });
    expect(await bridge().call('git_status', { path })).toMatchObject({ path });
  });

  test('writes a .gitignore of common patterns if asked', async () => {
    const path = await bridge().workplace.project('with-patterns');
    await bridge().call('init_git_repo', { path, gitignore: true });
    expect(await readFile(join(path, '.gitignore'), 'utf8')).toContain('node_modules/');
  });
});

describe('the allowed roots', () => {
  const outside = ['/etc/passwd', '../../../etc/passwd', 'linked/passwd'];

  test.each([
    ['set_active_project', {}],
    ['list_files', {}],
    ['get_file_tree', {}],
    ['read_file', {}],
    ['read_file_range', { start_line: 1, end_line: 1 }],
    ['create_directory', {}],
    ['write_file', { content: '' }],
    ['init_git_repo', {}],
    ['git_status', {}],
    ['git_diff_stat', {}],
    ['git_diff', {}],
    ['start_task', { prompt: 'Nothing.' }],
  ])('%s refuses a path outside, and says which roots are allowed', async (tool, args) => {
    const path = await bridge().workplace.project(`outside-${tool}`);
    await symlink('/etc', join(path, 'linked'));
    for (const away of outside) {
      const refusal = await bridge().refusal(tool, {
        ...args,
        path: away.startsWith('/') ? away : join(path, away.replace(/^\.\.\//, '../../../../../../../')),
      });
      expect(refusal).toMatch(/^PATH_NOT_ALLOWED: /);
      expect(refusal).toContain(bridge().workplace.projectsDir);
    }
  });

  test('"~" in a path is the home directory', async () => {
    const home = await mkdir(join(bridge().workplace.homeDir, 'Projects'), { recursive: true });
    expect(home).toBeDefined();
    const other = await bridge().another('modern', { env: { MCP_ALLOWED_ROOTS: '~/Projects' } });
    const { active_project } = await other.call('set_active_project', { path: '~/Projects' });
    expect(active_project).toBe(join(bridge().workplace.homeDir, 'Projects'));
    expect(basename(String(active_project))).toBe('Projects');
  });
});
