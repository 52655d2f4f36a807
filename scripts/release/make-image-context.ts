import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packTar } from './pack-tar.js';
import type { Project } from './project.js';

const templates = fileURLToPath(new URL('image', import.meta.url));

/** Writes what `docker build` needs into `folder`: the Dockerfile, how to use the image, and the filled app folder. */
export async function fillImageContext(project: Project, app: string, folder: string): Promise<void> {
  await cp(app, join(folder, 'app'), { recursive: true });
  await cp(join(templates, 'README.md'), join(folder, 'README.md'));
  await writeFile(
    join(folder, 'Dockerfile'),
    dockerfile(project, await readFile(join(templates, 'Dockerfile'), 'utf8')),
  );
}

/** Packs what `docker build - < file` needs. */
export async function makeImageContext(project: Project, app: string, file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'image-'));
  try {
    await fillImageContext(project, app, folder);
    await packTar(folder, file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function dockerfile({ mcpName, name, version, address, license }: Project, template: string): string {
  const values: Record<string, string> = {
    MCP_NAME: mcpName,
    NAME: name,
    VERSION: version,
    ADDRESS: address,
    LICENSE: license,
  };
  return template.replace(/@([A-Z_]+)@/g, (whole, key: string) => values[key] ?? whole);
}
