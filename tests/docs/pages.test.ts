import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = resolve(import.meta.dirname, '..', '..');
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /^(docs\/|tests\/[^f]|[A-Z]+\.md$)/.test(path));

const packageSchema = z.object({
  files: z.array(z.string()),
  scripts: z.record(z.string(), z.string()),
  repository: z.object({ url: z.string() }),
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});
const manifest = packageSchema.parse(JSON.parse(read('package.json')));

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** What an expression finds in the pages, each as `page: found`, where it is wrong. */
function wrongIn(expression: RegExp, isRight: (found: string, page: string) => boolean): string[] {
  return pages.flatMap((page) =>
    [...withoutFences(read(page)).matchAll(expression)]
      .map((match) => match[1] ?? '')
      .filter((found) => !isRight(found, page))
      .map((found) => `${page}: ${found}`),
  );
}

test('the README has the address of the repository, the command of the demo, and that of the check, which is what .ci/run calls', () => {
  const address = manifest.repository.url.replace(/^git\+|\.git$/g, '');
  expect(read('README.md')).toContain(`\`git clone ${address}\``);
  const last = read('.ci/run').trim().split('\n').at(-1);
  const commands = [...read('README.md').matchAll(/```bash\n([^]*?)\n```/g)].map((match) => match[1]);
  expect(commands).toEqual(['npm ci && npm run demo', last]);
});

test('no link leads nowhere', () => {
  const isRight = (target: string, page: string): boolean =>
    /^https?:\/\//.test(target) || leadsSomewhere(page, target);
  expect(wrongIn(/\]\(([^)\s]+)\)/g, isRight)).toEqual([]);
});

test('the README links to nothing that the package leaves out', () => {
  const packed = [...manifest.files, 'LICENSE', 'README.md', 'package.json'];
  const isPacked = (target: string): boolean =>
    /^https?:/.test(target) || packed.some((one) => target === one || target.startsWith(`${one}/`));
  const missing = wrongIn(/\]\(([^)\s#]+)/g, (target, page) => page !== 'README.md' || isPacked(target));
  expect(missing).toEqual([]);
});

test('each npm script that a page names exists', () => {
  const named = /npm run (?:--silent )?([a-z0-9:-]+)/g;
  expect(wrongIn(named, (name) => Object.hasOwn(manifest.scripts, name))).toEqual([]);
});

test('each file of the source that a page names exists', () => {
  const named = /`((?:src|tests|scripts|docs)\/[A-Za-z0-9_./-]+)`/g;
  expect(wrongIn(named, (path) => existsSync(join(root, path)))).toEqual([]);
});

test('docs/dependencies.md gives a reason for every dependency, and for no other', () => {
  const { dependencies, optionalDependencies, devDependencies, peerDependencies } = manifest;
  const names = new Set(
    [dependencies, optionalDependencies, devDependencies, peerDependencies].flatMap((group) =>
      Object.keys(group),
    ),
  );
  const [used = ''] = read('docs/dependencies.md').split('## What is not used');
  const rows = [...used.matchAll(/^- (`.+?`) \(/gm)].flatMap((row) =>
    [...(row[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  );
  expect([...new Set(rows)].toSorted()).toEqual([...names].toSorted());
});

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
