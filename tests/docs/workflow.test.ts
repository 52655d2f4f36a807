import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const at = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const schema = z.object({
  jobs: z.record(
    z.string(),
    z.object({
      strategy: z.object({ matrix: z.object({ os: z.array(z.string()) }) }).optional(),
      steps: z.array(z.object({ run: z.string().optional() })),
    }),
  ),
});
const workflow = (name: string) => schema.parse(parse(at(`.github/workflows/${name}`)));

/** The commands of a job, one line each. */
function commandsOf(job: string, name = 'ci.yml'): string {
  return (workflow(name).jobs[job]?.steps ?? []).map(({ run }) => run ?? '').join('\n');
}

test('both commands with which the README begins are run on Linux and macOS', () => {
  const { os } = workflow('check.yml').jobs['readme']?.strategy?.matrix ?? {};
  expect(os).toEqual(['ubuntu-latest', 'macos-latest']);
  const blocks = [...at('README.md').matchAll(/```(?:bash|sh)\n(npm ci && [^\n]*)\n```/g)].map(
    ([, line]) => line,
  );
  for (const line of blocks.slice(0, 2)) expect(commandsOf('readme', 'check.yml')).toContain(line);
  expect(blocks.slice(0, 2)).toHaveLength(2);
});

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
