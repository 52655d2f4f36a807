import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { statuses } from '../../src/doctor/check.js';
import { entrySchema, reportSchema } from '../../src/doctor/report.js';

const guide = readFileSync(fileURLToPath(new URL('../../docs/guide.md', import.meta.url)), 'utf8');
const section = guide.slice(guide.indexOf('\n## Doctor\n'), guide.indexOf('\n## Exit codes\n'));

test('the guide names each field of the JSON, and each status', () => {
  const words = section.slice(section.indexOf('The JSON is an object'));
  for (const name of [...Object.keys(reportSchema.shape), ...Object.keys(entrySchema.shape), ...statuses])
    expect(words).toContain(`\`${name}\``);
});
