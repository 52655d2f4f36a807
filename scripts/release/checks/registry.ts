import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { artefactNames } from '../artefacts.js';
import { serverJson } from '../server-json.js';
import { sha256 } from '../sha256.js';
import type { Check } from './check.js';

const SCHEMA = 'tests/fixtures/schemas/mcp-server-2025-12-11.json';

/** Whether the entry of the MCP registry fits its schema and names the artefacts of this release. */
export const checkRegistry: Check = async ({ project, folder }) => {
  const names = artefactNames(project);
  const text = await readFile(join(folder, names.registry), 'utf8');
  const entry: unknown = JSON.parse(text);
  // The schema has examples, which strict mode does not know.
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const schema = z
    .record(z.string(), z.unknown())
    .parse(JSON.parse(await readFile(join(project.root, SCHEMA), 'utf8')));
  const faults = ajv.validate(schema, entry) ? [] : [`${ajv.errorsText()}.`];
  const expected = serverJson(project, sha256(join(folder, names.bundle)));
  if (JSON.stringify(entry) !== JSON.stringify(expected))
    faults.push('it is not what this checkout and this bundle make.');
  return faults;
};
