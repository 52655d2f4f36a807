import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import { z } from 'zod';
import { ignoreMissing } from '../../base/errors.js';

const packageSchema = z.looseObject({
  version: z.string().default(''),
  files: z.array(z.string()).default([]),
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});
type PackageFile = z.infer<typeof packageSchema>;

/** What npm packs whatever `files` says, as far as it is there. */
const ALWAYS = ['package.json', 'LICENSE', 'README.md'];
const MODULES = 'node_modules';
const DIGEST_CHARS = 12;
const EXECUTABLE = 0o100;
/** The same files make the same archive. GNU tar warns of the beginning of its time. */
const LONG_AGO = new Date('1985-10-26T08:15:00Z');

/** A file of the archive: its name there, and where it is here. */
type Listed = readonly [name: string, path: string];

/** This package as it is installed here, as a compressed tar. */
export interface OwnPackage {
  /** The version and a digest of all files: two builds of a version differ. It is the name of their folder. */
  readonly name: string;
  readonly archive: Buffer;
}

/**
 * Packs the files that `package.json` lists. `withModules`: also the installed packages that it needs to run, which may hold programs for this
 * platform alone; each stands below the one that needs it, where Node finds it first.
 */
export async function packOwn(root: string, withModules: boolean): Promise<OwnPackage> {
  const manifest = await readManifest(root);
  const own = [...new Set([...ALWAYS, ...manifest.files])];
  const files = (await Promise.all(own.map((name) => filesBelow(join(root, name), name)))).flat();
  const modules = withModules ? await modulesOf(root, manifest, '', [root]) : [];
  const hash = createHash('sha256');
  const archive = pack();
  const packed = buffer(archive.pipe(createGzip()));
  for (const [name, path] of [...files, ...modules].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const body = await readFile(path);
    hash.update(`${name}\0${body.length}\0`).update(body);
    await add(archive, name, body, (await stat(path)).mode);
  }
  archive.finalize();
  return {
    name: `${manifest.version}-${hash.digest('hex').slice(0, DIGEST_CHARS)}`,
    archive: await packed,
  };
}

/** The files of the packages that one needs. `at`: its own place in the archive; `chain`: its folder and those of the packages around it. */
async function modulesOf(
  folder: string,
  { dependencies, optionalDependencies }: PackageFile,
  at: string,
  chain: readonly string[],
): Promise<Listed[]> {
  const names = Object.keys({ ...dependencies, ...optionalDependencies });
  const listed = names.map(async (name): Promise<Listed[]> => {
    const found = await findPackage(folder, name);
    // Optional and for another platform; or around this one, where Node finds it.
    if (found === undefined || chain.includes(found)) return [];
    const place = join(at, MODULES, name);
    const own = await filesBelow(found, place);
    const below = await modulesOf(found, await readManifest(found), place, [...chain, found]);
    return [...own, ...below];
  });
  return (await Promise.all(listed)).flat();
}

/** Where Node finds a package from a folder on: the folder of its files. */
async function findPackage(folder: string, name: string): Promise<string | undefined> {
  const found = await realpath(join(folder, MODULES, name)).catch(ignoreMissing);
  if (found !== undefined || dirname(folder) === folder) return found;
  return findPackage(dirname(folder), name);
}

/** The files of a folder, or one file; without the packages that lie in it. */
async function filesBelow(path: string, name: string): Promise<Listed[]> {
  const facts = await stat(path).catch(ignoreMissing);
  if (facts === undefined) return [];
  if (facts.isFile()) return [[name, path]];
  const entries = await readdir(path, { withFileTypes: true });
  const kept = entries.filter((entry) => entry.name !== MODULES && (entry.isDirectory() || entry.isFile()));
  const files = await Promise.all(
    kept.map((entry) => filesBelow(join(path, entry.name), join(name, entry.name))),
  );
  return files.flat();
}

async function readManifest(folder: string): Promise<PackageFile> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  return packageSchema.parse(JSON.parse(text));
}

function add(archive: Pack, name: string, body: Buffer, mode: number): Promise<void> {
  const header = { name, mode: (mode & EXECUTABLE) === 0 ? 0o644 : 0o755, mtime: LONG_AGO };
  return new Promise((resolve, reject) => {
    archive.entry(header, body, (error) => (error ? reject(error) : resolve()));
  });
}
