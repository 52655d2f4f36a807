import { describe, expect, it } from 'vitest';
import { hasBegun } from '../../../../src/processes/docker/program-begun.js';
import { Collector } from '../../../contracts/process-backend/under-test.js';
import { describeDocker } from '../../../harness/docker-engine.js';
import { engineHost, EngineRelay, type RelayOptions } from './engine-relay.js';
import { openDockerBackend, startContainer } from './open-docker-backend.js';

describe('whether the program is among the processes of a container', () => {
  const init = '/sbin/docker-init -- cat';
  it.each([
    ['init alone', [init], false],
    ['init and its copy, which is to become the program', [init, init], false],
    ['init and a copy that has ended', [init, '[docker-init] <defunct>'], false],
    ['nothing any more', [], false],
    ['the program', [init, 'cat'], true],
    ['the program and what it started', [init, 'sh -c cat', 'cat'], true],
  ])('%s', (_name, commands, begun) => {
    expect(hasBegun(commands)).toBe(begun);
  });
});

describeDocker('the begin of a program in a container', ({ busyboxImage }) => {
  const open = async (options: RelayOptions) =>
    openDockerBackend({ image: busyboxImage, host: (await EngineRelay.open(engineHost, options)).address });

  it('one that does not exist is refused also when init’s word on it comes late', async () => {
    const test = await open({ lateMs: 300 });
    const started = test.backend.spawn(test.spec(['no-such-program-anywhere']), new Collector());
    await expect(started).rejects.toMatchObject({ code: 'PROGRAM_NOT_FOUND' });
  });

  it('one that does not exist is refused also when its container cannot be looked at while it ends', async () => {
    const test = await open({
      lateMs: 300,
      lists: [
        { Titles: ['PID', 'CMD'], Processes: null },
        'ttrpc: closed: unknown',
        'runc did not terminate successfully: exit status 1: unable to get all container pids',
      ],
    });
    const started = test.backend.spawn(test.spec(['no-such-program-anywhere']), new Collector());
    await expect(started).rejects.toMatchObject({ code: 'PROGRAM_NOT_FOUND' });
  });

  it('one that does not exist is refused also where the engine cannot list processes', async () => {
    const test = await open({ lateMs: 300, hasNoPs: true });
    const started = test.backend.spawn(test.spec(['no-such-program-anywhere']), new Collector());
    await expect(started).rejects.toMatchObject({ code: 'PROGRAM_NOT_FOUND' });
  });

  it('one that says nothing runs after two seconds where the engine never says what runs', async () => {
    const lists = Array.from({ length: 1_000 }, () => 'a fault of another kind');
    const { process } = await startContainer(await open({ lists }), ['cat']);
    expect(process.status).toBe('running');
  });

  it('one that says nothing runs when its start is answered, and one that ends silently has ended well', async () => {
    const test = await open({ lateMs: 300 });
    const { process: silent } = await startContainer(test, ['cat']);
    expect(silent.status).toBe('running');
    const { process: short } = await startContainer(test, ['true']);
    expect(await short.exited).toMatchObject({ code: 0 });
  });

  it('one that says nothing runs also where the engine cannot list processes', async () => {
    const { process } = await startContainer(await open({ hasNoPs: true }), ['cat']);
    expect(process.status).toBe('running');
  });
});
