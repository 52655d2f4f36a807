import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { statuses } from '../../src/doctor/check.js';
import { allChecks } from '../../src/doctor/all-checks.js';
import { entrySchema, reportSchema } from '../../src/doctor/report.js';

const guide = readFileSync(fileURLToPath(new URL('../../docs/guide.md', import.meta.url)), 'utf8');
const section = guide.slice(guide.indexOf('\n## Doctor\n'), guide.indexOf('\n## Exit codes\n'));

test('the guide has a line for each check of the doctor, in their order', () => {
  const rows = [...section.matchAll(/^- `([a-z-]+)`: /gm)].map(([, id]) => id);
  expect(rows).toEqual(allChecks.map(({ id }) => id));
  expect(new Set(rows).size).toBe(rows.length);
});

test('checks of one category stand together', () => {
  const order = allChecks.map(({ category }) => category);
  const changes = order.filter((category, index) => category !== order[index - 1]);
  expect(changes).toHaveLength(new Set(order).size);
});

test('the guide names each field of the JSON, and each status', () => {
  const words = section.slice(section.indexOf('The JSON is an object'));
  for (const name of [...Object.keys(reportSchema.shape), ...Object.keys(entrySchema.shape), ...statuses])
    expect(words).toContain(`\`${name}\``);
});
