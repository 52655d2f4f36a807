import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { z } from 'zod';
import { ignoreMissing } from '../../base/errors.js';

const packageSchema = z.looseObject({
  version: z.string().default(''),
  files: z.array(z.string()).default([]),
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});

/** What npm packs whatever `files` says, as far as it is there. */
const ALWAYS = ['package.json', 'LICENSE', 'README.md'];
const MODULES = 'node_modules';
const DIGEST_CHARS = 12;
const EXECUTABLE = 0o100;
/** The same files make the same archive. GNU tar warns of the beginning of its time. */
const LONG_AGO = new Date('1985-10-26T08:15:00Z');

/**
 * This package as it is installed here, as a compressed tar: what `package.json` lists, and the packages that it needs to run, each below the one that
 * needs it, where Node finds it first. `name`: of its folder there, the version and a digest of all files, since two builds of a version
 * differ. `needs`: the packages that it does not start without.
 */
export async function packOwn(root: string) {
  const { version, files, dependencies } = await manifestOf(root);
  const own = await filesIn(root, [...new Set([...ALWAYS, ...files])]);
  const all = [...own, ...(await modulesOf(root, '', [root]))];
  const archive = pack();
  for (const [name, path] of all.sort(([one], [other]) => (one < other ? -1 : 1))) {
    const mode = ((await stat(path)).mode & EXECUTABLE) === 0 ? 0o644 : 0o755;
    archive.entry({ name, mode, mtime: LONG_AGO }, await readFile(path));
  }
  archive.finalize();
  const tar = await buffer(archive);
  const digest = createHash('sha256').update(tar).digest('hex').slice(0, DIGEST_CHARS);
  return { name: `${version}-${digest}`, needs: Object.keys(dependencies), archive: gzipSync(tar) };
}

/** The packages that the one in `folder` needs, each file as its name in the archive and its path here. `chain`: the folders of the packages around. */
async function modulesOf(folder: string, at: string, chain: readonly string[]): Promise<[string, string][]> {
  const { dependencies, optionalDependencies } = await manifestOf(folder);
  const all: [string, string][] = [];
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const found = await findPackage(folder, name);
    // Optional and for another platform; or around this one, where Node finds it.
    if (found === undefined || chain.includes(found)) continue;
    const place = join(at, MODULES, name);
    for (const [file, path] of await filesIn(found, ['.'])) all.push([join(place, file), path]);
    all.push(...(await modulesOf(found, place, [...chain, found])));
  }
  return all;
}

/** Where Node finds a package from a folder on: the folder of its files. */
async function findPackage(folder: string, name: string): Promise<string | undefined> {
  const found = await realpath(join(folder, MODULES, name)).catch(ignoreMissing);
  if (found !== undefined || dirname(folder) === folder) return found;
  return findPackage(dirname(folder), name);
}

/** The files that lie in a folder below the names, without the packages in it. */
async function filesIn(folder: string, names: readonly string[]): Promise<[string, string][]> {
  const paths: string[] = [];
  for (const path of names.map((name) => join(folder, name))) {
    const facts = await stat(path).catch(ignoreMissing);
    if (facts?.isFile()) paths.push(path);
    const entries = facts?.isDirectory() ? await readdir(path, { withFileTypes: true, recursive: true }) : [];
    for (const entry of entries) if (entry.isFile()) paths.push(join(entry.parentPath, entry.name));
  }
  return paths
    .map((path): [string, string] => [relative(folder, path), path])
    .filter(([name]) => !name.split(sep).includes(MODULES));
}

async function manifestOf(folder: string) {
  return packageSchema.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
}
