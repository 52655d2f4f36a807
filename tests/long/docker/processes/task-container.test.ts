import { mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createTaskId } from '../../../../src/base/ids.js';
import type { AnswerHook } from '../../../../src/processes/docker/hook-relay.js';
import { HOOK_TEXT } from '../../../../src/processes/docker/container-texts.js';
import { containerLabels } from '../../../../src/processes/docker/leftovers.js';
import { TASK_LABEL } from '../../../../src/processes/docker/container-options.js';
import { TaskContainer } from '../../../../src/processes/docker/task-container.js';
import { ownIdentity } from '../../../../src/store/process-identity.js';
import { Collector } from '../../../contracts/process-backend/under-test.js';
import { describeDocker } from '../../../harness/docker-engine.js';
import { until } from '../../../harness/until.js';
import { direct, openEngine } from './open-docker-backend.js';

const MEMORY_MB = 128;

describeDocker('the container of a task', ({ busyboxImage, nodeImage }) => {
  it('runs the program in a terminal of the given size, with the prompt as its input, and keys from the terminal; it writes in the folder as its owner', async () => {
    const { spawn, folder } = await place();
    const { session, text } = await spawn({
      program:
        'echo by hand > made.txt; stty size </dev/tty; cat; read -r key </dev/tty; echo "pressed $key"; exit 7',
      prompt: 'ünïcode "quotes" $(x)\n',
    });
    await text.has('ünïcode "quotes" $(x)');
    session.write('a key\r');
    expect(await session.exited).toEqual({ code: 7 });
    expect(text.text('terminal')).toMatch(/^40 120\r\n/);
    expect(text.text('terminal')).toContain('pressed a key\r\n');
    expect(await readFile(join(folder, 'made.txt'), 'utf8')).toBe('by hand\n');
    expect((await stat(join(folder, 'made.txt'))).uid).toBe((await stat(folder)).uid);
  });

  it('asks hooks through the relay, several at once, of a megabyte, and takes their answers', async () => {
    const bodies: string[] = [];
    const { spawn } = await place();
    const { session, text } = await spawn({
      program: [
        `head -c 1000000 /dev/zero | tr '\\0' x > /tmp/big`,
        `(sh /tmp/hook </tmp/big) & (echo second | sh /tmp/hook) & wait`,
      ].join('\n'),
      setUp: `cat > /tmp/hook <<'END'\n${HOOK_TEXT}\nEND\n`,
      answer: (body) => {
        bodies.push(body.toString());
        return Promise.resolve(`{"answer":"${body.length}"}`);
      },
    });
    await session.exited;
    expect(bodies.map((body) => body.length).sort((a, b) => a - b)).toEqual([7, 1_000_000]);
    expect(text.text('terminal')).toContain('{"answer":"7"}');
    expect(text.text('terminal')).toContain('{"answer":"1000000"}');
  });

  it('tells who answers a hook that nobody waits for the answer any more', async () => {
    const { spawn } = await place();
    let isGone: (() => void) | undefined;
    const gone = new Promise<void>((resolve) => (isGone = resolve));
    const { session } = await spawn({
      program: `echo ask | sh /tmp/hook & sleep 0.5; kill $!; wait; read -r _ </dev/tty`,
      setUp: `cat > /tmp/hook <<'END'\n${HOOK_TEXT}\nEND\n`,
      answer: (_body, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            isGone?.();
            resolve('{}');
          });
        }),
    });
    await gone;
    session.write('\r');
    expect(await session.exited).toMatchObject({ code: 0 });
  });

  it('ends a program that does not listen, and all that it started, and nothing is left', async () => {
    const { spawn, container, left } = await place();
    const { session, text } = await spawn({
      program: `trap '' TERM; (trap '' TERM HUP; setsid sleep 1000) & echo here; while :; do sleep 1; done`,
    });
    await text.has('here');
    await container.end();
    expect(await session.exited).toEqual({ signal: 'SIGKILL' });
    expect(await left()).toEqual([]);
  });

  it('tells an end for want of memory as that', async () => {
    const { spawn } = await place();
    // All of it is one line, which is kept in memory.
    const { session } = await spawn({ program: 'exec tail -n 1 /dev/zero' });
    const exit = await session.exited;
    expect(exit).toMatchObject({ signal: 'SIGKILL' });
    expect(exit.reason).toContain(`more memory than its container may (${MEMORY_MB} MB)`);
  });

  it('runs a program on pipes: input with an end, outputs apart and whole, its exit code', async () => {
    const { spawnPiped, left } = await place();
    const lines = 200_000;
    const { child, output } = await spawnPiped(`cat; echo wrong >&2; seq 1 ${lines}; [ -t 0 ] || exit 7`);
    expect(child.pid).toBeUndefined();
    expect(child.write('ünïcode "quotes" $(x)\n')).toBe('taken');
    expect(child.endInput()).toBe(true);
    await child.closed;
    const printed = output.text('stdout');
    expect(printed.split('\n').slice(0, 2)).toEqual(['ünïcode "quotes" $(x)', '1']);
    expect(printed.split('\n').slice(-2)).toEqual([String(lines), '']);
    expect(printed.split('\n')).toHaveLength(lines + 2);
    expect(output.text('stderr')).toBe('wrong\n');
    expect(await child.exited).toEqual({ code: 7 });
    await until('no container is left', async () => expect(await left()).toEqual([]));
  });

  it.each([
    { what: 'a program that is not in the image', image: busyboxImage, words: /program 'missing-program'/ },
    { what: 'a network that is not there', image: nodeImage, network: 'no-such-net', words: /no-such-net/ },
  ])('refuses $what, and leaves nothing', async ({ image, network, words }) => {
    const { container, folder, left } = await place({ image, ...(network === undefined ? {} : { network }) });
    const spawned = container.spawn({
      command: ['missing-program'],
      cwd: folder,
      env: {},
      size: { columns: 80, rows: 24 },
      shell: '',
      sink: new Collector(),
    });
    await expect(spawned).rejects.toMatchObject({ code: 'TASK_START_FAILED' });
    await expect(spawned).rejects.toThrow(words);
    expect(await left()).toEqual([]);
  });

  async function place(plan: { readonly image?: string; readonly network?: string } = {}) {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'task-container-')));
    const engine = openEngine();
    const { uid, gid } = await stat(folder);
    const taskId = createTaskId(Date.now());
    const owner = { id: `test-${taskId}`, keeper: await ownIdentity() };
    let answerHook: AnswerHook = () => Promise.resolve('{}');
    const container = new TaskContainer({
      engine,
      plan: {
        image: plan.image ?? nodeImage,
        network: plan.network ?? 'none',
        memoryMb: MEMORY_MB,
        taskId,
        labels: containerLabels(owner),
        uid,
        gid,
        folders: [folder],
      },
      redirectHooks: (options) => ({ options, answer: (body, gone) => answerHook(body, gone) }),
      onFault: () => undefined,
    });
    const left = async (): Promise<string[]> =>
      (await direct.listContainers({ all: true, filters: { label: [`${TASK_LABEL}=${taskId}`] } })).flatMap(
        ({ Names }) => Names,
      );
    onTestFinished(async () => {
      container.dispose();
      await until('no container is left', async () => expect(await left()).toEqual([]));
      engine.dispose();
      await rm(folder, { recursive: true, force: true });
    });
    const spawn = async (wanted: {
      readonly program: string;
      readonly setUp?: string;
      readonly prompt?: string;
      readonly answer?: AnswerHook;
    }) => {
      if (wanted.answer !== undefined) answerHook = wanted.answer;
      const promptFile = join(folder, 'prompt.md');
      await writeFile(promptFile, wanted.prompt ?? '');
      const output = new Collector();
      const session = await container.spawn({
        command: ['sh', '-c', `${wanted.setUp ?? ''}${wanted.program}`],
        cwd: folder,
        env: { HOME: folder, TERM: 'xterm-256color' },
        size: { columns: 120, rows: 40 },
        shell: '',
        stdinFile: promptFile,
        sink: output,
      });
      return { session, text: output };
    };
    const spawnPiped = async (program: string) => {
      const output = new Collector();
      const command = ['sh', '-c', program];
      const env = { HOME: folder };
      return { child: await container.spawnPiped({ command, cwd: folder, env, sink: output }), output };
    };
    return { folder, container, spawn, spawnPiped, left };
  }
});
