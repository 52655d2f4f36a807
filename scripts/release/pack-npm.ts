import { join } from 'node:path';
import { z } from 'zod';
import { run } from './run.js';

const packedSchema = z.tuple([z.object({ filename: z.string(), integrity: z.string() })]);

export interface Packed {
  readonly file: string;
  /** As package-lock.json writes it. */
  readonly integrity: string;
}

/** Packs a folder, or a published package such as `name@1.0.0`, into `out`. No script of a package runs. */
export async function packNpm(what: string, out: string): Promise<Packed> {
  const flags = ['--json', '--silent', '--ignore-scripts', '--prefer-offline'];
  const [{ filename, integrity }] = packedSchema.parse(
    JSON.parse(await run('npm', ['pack', what, ...flags], out)),
  );
  return { file: join(out, filename), integrity };
}
