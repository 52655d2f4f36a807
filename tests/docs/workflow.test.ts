import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const at = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const workflow = z
  .object({
    jobs: z.record(
      z.string(),
      z.object({ 'runs-on': z.string(), steps: z.array(z.object({ run: z.string().optional() })) }),
    ),
  })
  .parse(parse(at('.github/workflows/ci.yml')));

/** The commands of a job, one line each. */
function commandsOf(job: string): string {
  return (workflow.jobs[job]?.steps ?? []).map(({ run }) => run ?? '').join('\n');
}

test.each(['linux', 'macos', 'windows'])('the workflow runs both commands of the README on %s', (job) => {
  const commands = commandsOf(job);
  expect(at('README.md')).toContain('```bash\nnpm ci && npm run demo\n```');
  expect(at('README.md')).toContain('```bash\nnpm ci && npm run check\n```');
  expect(commands).toContain('npm ci && npm run demo');
  if (commands.includes('.ci/run')) expect(at('.ci/run')).toContain('\nnpm ci && npm run check\n');
  else expect(commands).toContain('npm run check');
});

test('the workflow runs the long form on the process table of ps', () => {
  expect(commandsOf('ps')).toContain('npm run check:all -- ps');
});
