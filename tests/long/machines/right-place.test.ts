import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../../harness/project-files.js';
import { startBridge } from '../../harness/start-bridge.js';
import { describeMachines, sharedMachines } from './shared-machines.js';

const OPERATIONS = 100;

describeMachines('one path on two machines', (claude) => {
  const machines = sharedMachines({
    claude,
    count: 1,
    env: { far1: { MCP_ALLOWED_ROOTS: '/tmp,/home/dev' } },
  });

  it('a hundred operations in turn are done where they were asked for', async () => {
    const machine = machines().machine(1);
    const bridge = await startBridge({ claude, env: { ...machines().env, MCP_TOOLSETS: 'all' } });
    const path = bridge.project;
    const sides = ['here', 'there'] as const;
    // The folder of the project, on the other machine as well, with other content.
    await repository(path, { 'a.txt': 'here 0\n', 'only-here.txt': 'needle\n' });
    const made = `mkdir -p ${path} && cd ${path} && git init -q -b other && echo there 0 > a.txt && echo needle > only-there.txt`;
    await machine.exec([
      'sh',
      '-c',
      `${made} && git add . && git -c user.name=T -c user.email=t@t.invalid commit -qm there`,
    ]);

    const seen: string[] = [];
    const expected: string[] = [];
    const text = (answer: Record<string, unknown>): string => JSON.stringify(answer);
    const at = (side: string): object => (side === 'there' ? { machine: machine.name } : {});
    const acts: ((side: (typeof sides)[number], n: number) => Promise<void>)[] = [
      async (side, n) => {
        await bridge.call('write_file', {
          ...at(side),
          path: join(path, 'a.txt'),
          content: `${side} ${n}\n`,
        });
        const { content } = await bridge.call('read_file', { ...at(side), path: join(path, 'a.txt') });
        seen.push(String(content));
        expected.push(`${side} ${n}\n`);
      },
      async (side) => {
        const found = text(await bridge.call('search_files', { ...at(side), path, query: 'needle' }));
        seen.push(found.includes(`only-${side}.txt`) ? side : found);
        expected.push(side);
      },
      async (side) => {
        const { branch } = await bridge.call('git_status', { ...at(side), path });
        seen.push(String(branch));
        expected.push(side === 'here' ? 'main' : 'other');
      },
      async (side, n) => {
        const command = `echo ${side} ${n} >> spawned.txt; cat only-${side}.txt`;
        const answer = await bridge.call('spawn', { ...at(side), command, shell: true, cwd: path });
        seen.push(text(answer).includes('needle') ? side : text(answer));
        expected.push(side);
      },
      async (side) => {
        const tree = text(await bridge.call('get_file_tree', { ...at(side), path }));
        const names = sides.filter((one) => tree.includes(`only-${one}.txt`));
        seen.push(names.join());
        expected.push(side);
      },
    ];
    for (let n = 0; n < OPERATIONS; n++) {
      const act = acts[Math.floor(n / 2) % acts.length];
      await act?.(sides[n % 2] ?? 'here', n);
    }
    expect(seen).toEqual(expected);

    const counts = Array.from({ length: OPERATIONS }, (_, n) => n);
    const linesOf = (side: (typeof sides)[number]): string =>
      counts
        .filter((n) => Math.floor(n / 2) % acts.length === 3 && sides[n % 2] === side)
        .map((n) => `${side} ${n}\n`)
        .join('');
    expect(await bridge.read('spawned.txt')).toBe(linesOf('here'));
    expect(await machine.exec(['cat', join(path, 'spawned.txt')])).toBe(linesOf('there'));
  });

  it('a folder that is here alone is refused over there, and none is made', async () => {
    const machine = machines().machine(1);
    const bridge = await startBridge({ claude, env: machines().env });
    await writeFile(join(bridge.project, 'a.txt'), 'here\n');
    const start = { machine: machine.name, path: bridge.project, prompt: 'DO echo x > a.txt' };
    expect(await bridge.refusal('start_task', start)).toMatch(/^[A-Z_]+: /);
    expect(
      await bridge.refusal('read_file', { machine: machine.name, path: join(bridge.project, 'a.txt') }),
    ).toMatch(/^[A-Z_]+: /);
    expect(await readFile(join(bridge.project, 'a.txt'), 'utf8')).toBe('here\n');
    expect(await machine.exec(['sh', '-c', `ls -d ${bridge.project} || true`])).toBe('');
    expect(await bridge.refusal('start_task', { ...start, machine: 'far9' })).toMatch(
      /^MACHINE_NOT_FOUND: .*far1/,
    );
    expect(await bridge.ids()).toEqual([]);
  });
});
