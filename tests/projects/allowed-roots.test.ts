import { mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { BridgeError, systemCodeOf, type ErrorCode } from '../../src/base/errors.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { tempFolder } from '../harness/temp-folder.js';
import { rounds } from '../harness/rounds.js';

let base: string;
let root: string;
let outside: string;
let roots: AllowedRoots;

beforeEach(async () => {
  base = await tempFolder();
  root = join(base, 'root');
  outside = join(base, 'outside');
  await mkdir(join(root, 'project'), { recursive: true });
  await mkdir(join(outside, 'secret'), { recursive: true });
  await writeFile(join(root, 'file'), '');
  await writeFile(join(outside, 'file'), '');
  roots = new AllowedRoots([root], root);
});

async function fault(promise: Promise<unknown>): Promise<BridgeError> {
  try {
    await promise;
  } catch (thrown) {
    if (thrown instanceof BridgeError) return thrown;
    throw thrown;
  }
  throw new Error('Nothing was thrown.');
}

function ignoreSystemError(thrown: unknown): void {
  if (systemCodeOf(thrown) === undefined) throw thrown;
}

async function code(promise: Promise<unknown>): Promise<ErrorCode> {
  return (await fault(promise)).code;
}

describe('inside', () => {
  test('a root itself, its contents, dots, doubled and trailing slashes, and ~ are allowed', async () => {
    const project = join(root, 'project');
    for (const input of [
      project,
      `${project}/`,
      `${root}//project///`,
      `${project}/../project/.`,
      `${outside}/../root/project`,
      '~/project',
    ]) {
      expect(await roots.resolveDirectory(input), input).toBe(project);
    }
    expect(await roots.resolveDirectory('~')).toBe(root);
    expect(await roots.resolve(`${root}/`)).toBe(root);
    expect(await roots.resolve(join(root, 'file'))).toBe(join(root, 'file'));
  });

  test('a path that does not exist yet is checked by its nearest existing folder', async () => {
    expect(await roots.resolve(join(root, 'new/deep/file'))).toBe(join(root, 'new/deep/file'));
    expect(await code(roots.resolveDirectory(join(root, 'new')))).toBe('PATH_NOT_FOUND');
  });

  test('links that stay inside are followed, and the real path is returned', async () => {
    await symlink('project', join(root, 'relative'));
    await symlink(join(root, 'relative'), join(root, 'absolute'));
    await symlink(root, join(outside, 'back'));
    expect(await roots.resolveDirectory(join(root, 'absolute'))).toBe(join(root, 'project'));
    expect(await roots.resolveDirectory(join(outside, 'back/project'))).toBe(join(root, 'project'));
  });

  test('a root may be a link, end in slashes, not exist yet, or be /', async () => {
    await symlink(root, join(base, 'link'));
    const linked = new AllowedRoots([`${join(base, 'link')}//`, join(base, 'later')], base);
    expect(linked.roots).toEqual([join(base, 'link'), join(base, 'later')]);
    expect(await linked.resolveDirectory(join(base, 'link/project'))).toBe(join(root, 'project'));
    expect(await linked.resolveDirectory(join(root, 'project'))).toBe(join(root, 'project'));
    expect(await linked.resolve(join(base, 'later/x'))).toBe(join(base, 'later/x'));
    expect(await new AllowedRoots(['/'], base).resolveDirectory(outside)).toBe(outside);
  });
});

describe('outside', () => {
  test('the message names the path and the roots, and is the same whether something exists or not', async () => {
    const two = new AllowedRoots([root, '/srv/other'], base);
    for (const input of [join(outside, 'secret'), join(outside, 'file'), join(outside, 'nothing/x')]) {
      const error = await fault(two.resolveDirectory(input));
      expect(error.code).toBe('PATH_NOT_ALLOWED');
      expect(error.message).toBe(
        `Path '${input}' is not within allowed roots. Allowed roots: ${root}, /srv/other`,
      );
    }
  });

  test('a folder whose name only begins like the root is outside', async () => {
    await mkdir(`${root}er`);
    expect(await code(roots.resolve(`${root}er`))).toBe('PATH_NOT_ALLOWED');
    expect(await code(roots.resolve(`${root}/../rooter/x`))).toBe('PATH_NOT_ALLOWED');
    expect(await code(roots.resolve(base))).toBe('PATH_NOT_ALLOWED');
    expect(await code(roots.resolve('/'))).toBe('PATH_NOT_ALLOWED');
  });

  test('a link that leads out is refused, and the message says where it leads', async () => {
    await symlink('../outside', join(root, 'out'));
    const error = await fault(roots.resolve(join(root, 'out/secret')));
    expect(error.code).toBe('PATH_NOT_ALLOWED');
    expect(error.message).toBe(
      `Path '${root}/out/secret' is not within allowed roots. Allowed roots: ${root}. It leads to '${outside}/secret' through a link.`,
    );
  });

  test('links outside are not revealed', async () => {
    await symlink('/etc', join(outside, 'hidden'));
    await symlink('../outside', join(root, 'out'));
    for (const input of [join(outside, 'hidden/x'), join(root, 'out/hidden/x')]) {
      expect((await fault(roots.resolve(input))).message).not.toContain('/etc');
    }
  });

  test('a dangling link to outside is refused: writing through it would create a file there', async () => {
    await symlink(join(outside, 'new'), join(root, 'dangling'));
    await symlink('dangling', join(root, 'twice'));
    expect(await code(roots.resolve(join(root, 'dangling')))).toBe('PATH_NOT_ALLOWED');
    expect(await code(roots.resolve(join(root, 'twice/deeper')))).toBe('PATH_NOT_ALLOWED');
    await symlink('later', join(root, 'inside'));
    expect(await roots.resolve(join(root, 'inside'))).toBe(join(root, 'later'));
  });

  test('a loop of links is reported', async () => {
    await symlink('b', join(root, 'a'));
    await symlink('a', join(root, 'b'));
    const error = await fault(roots.resolve(join(root, 'a')));
    expect(error.message).toBe(`Path '${root}/a' cannot be reached: its links form a loop.`);
    await symlink('circle', join(outside, 'circle'));
    expect(await code(roots.resolve(join(outside, 'circle')))).toBe('PATH_NOT_ALLOWED');
  });
});

describe('an invalid path', () => {
  test.each([
    ['', 'The path is empty.'],
    ['src', "Path 'src' is relative."],
    ['./src', "Path './src' is relative."],
    ['~other/x', "Path '~other/x' begins with another user's home folder, which is not supported."],
    ['/a\0b', "Path '/a\\u0000b' contains a NUL character, which paths cannot."],
    ['/a\ud800', "Path '/a\ud800' contains half of a character (a lone surrogate)."],
  ])('%j is refused', async (input, message) => {
    const error = await fault(roots.resolve(input));
    expect(error).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message,
      hint: 'Give an absolute path, or one that begins with ~/.',
    });
  });

  test('an empty or relative root is refused: it would mean the current folder', () => {
    expect(() => new AllowedRoots([''], base)).toThrow('allowed_roots: found "", expected an absolute path.');
    expect(() => new AllowedRoots(['src'], base)).toThrow(BridgeError);
  });
});

test('a root that is a link keeps its target from the start, even if the link changes', async () => {
  const link = join(base, 'link');
  await symlink(root, link);
  roots = new AllowedRoots([link], base);
  expect(await roots.resolve(join(link, 'file'))).toBe(join(root, 'file'));
  await rm(link);
  await symlink(outside, link);
  expect(await code(roots.resolve(join(link, 'file')))).toBe('PATH_NOT_ALLOWED');
  expect(await roots.admit(join(outside, 'file'))).toBeUndefined();
  expect(await roots.resolve(join(root, 'file'))).toBe(join(root, 'file'));
});

test('a root that is missing at the start may appear as a folder, but not as a link', async () => {
  const later = join(base, 'later');
  roots = new AllowedRoots([later], base);
  expect(await roots.resolve(join(later, 'file'))).toBe(join(later, 'file'));
  await symlink(outside, later);
  expect(await code(roots.resolve(join(later, 'file')))).toBe('PATH_NOT_ALLOWED');
  expect(await roots.admit(join(outside, 'file'))).toBeUndefined();
  // A keeper that this server starts gets the same roots.
  const inKeeper = AllowedRoots.ofReal(await roots.realRoots(), base);
  expect(await code(inKeeper.resolve(join(later, 'file')))).toBe('PATH_NOT_ALLOWED');
  await rm(later);
  await mkdir(later);
  expect(await roots.resolveDirectory(later)).toBe(later);
});

test('without roots every path fails with how to set them', async () => {
  const error = await fault(new AllowedRoots([], base, [], 'node ~/bridge/dist/main.js').resolve('src'));
  expect(error.code).toBe('NO_ALLOWED_ROOTS');
  expect(error.hint).toBe(
    'Set "allowed_roots" in ~/.config/mcp-claude-bridge/config.json, which `node ~/bridge/dist/main.js init` writes, or set MCP_ALLOWED_ROOTS to absolute paths separated by commas. Then restart the server.',
  );
});

/** Each of five links may lead two folders up, and the next one may be made there: all of it stays in the temp folder. */
const DEPTH = 12;

test('a generated tree of folders and links is resolved as the file system resolves it', async () => {
  base = join(base, ...Array.from({ length: DEPTH }, () => 'deep'));
  root = join(base, 'root');
  outside = join(base, 'outside');
  for (const top of [root, outside]) await mkdir(top, { recursive: true });
  roots = new AllowedRoots([root], root);
  const name = fc.constantFrom('a', 'b', 'ab', 'l', 'm');
  const place = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const target = fc.oneof(
    place,
    place.map((path) => `../${path}`),
    fc.tuple(fc.constantFrom('root', 'outside'), place).map(([side, path]) => `/${side}/${path}`),
    fc.constantFrom('..', '../..', '.', '/'),
  );
  const side = fc.constantFrom('root', 'outside');
  const input = fc.array(fc.oneof(name, fc.constantFrom('..', '.', '')), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(side, place), { maxLength: 6 }),
      fc.array(fc.tuple(side, place, target), { maxLength: 5 }),
      fc.array(fc.tuple(side, input), { minLength: 1, maxLength: 12 }),
      async (folders, links, inputs) => {
        for (const top of [root, outside]) await rm(top, { recursive: true });
        for (const top of [root, outside]) await mkdir(top);
        for (const [top, path] of folders) await mkdir(join(base, top, path), { recursive: true });
        for (const [top, path, to] of links) {
          const link = join(base, top, path);
          // A name that is taken, or lies behind a link to nothing, makes another tree: as good as any.
          await mkdir(posix.dirname(link), { recursive: true }).catch(ignoreSystemError);
          await symlink(to.startsWith('/') ? join(base, to) : to, link).catch(ignoreSystemError);
        }
        for (const [top, parts] of inputs) {
          const path = [base, top, ...parts].join('/');
          const real = await realpath(posix.resolve(path)).catch(() => undefined);
          const judged = await roots.resolve(path).catch((thrown: unknown) => thrown);
          if (typeof judged === 'string') expect(`${judged}/`.startsWith(`${root}/`)).toBe(true);
          if (real === undefined) continue;
          if (`${real}/`.startsWith(`${root}/`)) expect(judged).toBe(real);
          else expect(judged).toMatchObject({ code: 'PATH_NOT_ALLOWED' });
        }
      },
    ),
    { numRuns: rounds(150) },
  );
});

describe('the bridge’s own settings and state', () => {
  test('are not allowed, even within a root, through a link, in another case, and before they exist', async () => {
    const own = [join(root, 'state'), join(root, 'made-later'), join(root, 'sub/bridge.json')];
    await mkdir(join(root, 'state/tasks'), { recursive: true });
    await mkdir(join(root, 'sub'));
    await writeFile(join(root, 'sub/bridge.json'), '{}');
    await symlink('state', join(root, 'link'));
    const inside = new AllowedRoots([root], base, own);
    for (const name of [
      'state',
      'state/tasks/a',
      'link',
      'link/x',
      'made-later/x',
      'STATE/x',
      'sub/bridge.json',
    ]) {
      const error = await fault(inside.resolve(join(root, name)));
      expect(error.code, name).toBe('PATH_NOT_ALLOWED');
      expect(error.message, name).toContain("belongs to the bridge's own");
    }
    expect(await inside.admit(join(root, 'state/tasks'))).toBeUndefined();
    await expect(inside.refuseOwn(join(root, 'state/x'))).rejects.toThrow("belongs to the bridge's own");
    for (const name of ['stated', 'sub/bridge.json.txt', 'sub'])
      expect(await inside.resolve(join(root, name))).toBe(join(root, name));
  });

  test('are not allowed when the root itself is a link to them', async () => {
    await mkdir(join(root, 'state'));
    await symlink(join(root, 'state'), join(base, 'linked'));
    const linked = new AllowedRoots([join(base, 'linked')], base, [join(root, 'state')]);
    expect((await fault(linked.resolve(join(base, 'linked/x')))).code).toBe('PATH_NOT_ALLOWED');
  });
});

test('returns the part of a path below the innermost root', async () => {
  const linked = join(base, 'by-link');
  await symlink(root, linked);
  const some = new AllowedRoots([linked, join(root, 'inner')], base);
  expect(await some.belowRoot(join(linked, 'a/b'))).toBe('a/b');
  expect(await some.belowRoot(join(root, 'a/b'))).toBe('a/b');
  expect(await some.belowRoot(join(root, 'inner/b'))).toBe('b');
  expect(await some.belowRoot('/elsewhere/b')).toBe('/elsewhere/b');
  expect(await new AllowedRoots(['/'], base).belowRoot('/etc/x')).toBe('etc/x');
});
