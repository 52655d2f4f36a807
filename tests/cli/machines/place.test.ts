import { describe, expect, it } from 'vitest';
import { commandOfPlace, requireMachineName } from '../../../src/cli/machines/place.js';

describe('the place of a machine', () => {
  it.each([
    ['ssh://gpu', 'ssh gpu'],
    ['ssh://me@gpu:2222/', 'ssh -p 2222 me@gpu'],
    ['SSH://GPU_Alias', 'ssh GPU_Alias'],
    ['ssh://a%40corp@gpu', 'ssh a@corp@gpu'],
    ['ssh://me@[fe80::1]:22', 'ssh -p 22 me@fe80::1'],
  ])('%s is the command %s', (place, command) => {
    expect(commandOfPlace([place]).join(' ')).toBe(command);
  });

  it('is any other command as it stands', () => {
    const words = ['kubectl', 'exec', '-i', 'deploy/dev', '--'];
    expect(commandOfPlace(words)).toEqual(words);
  });

  it.each([
    ['ssh://', 'names no host'],
    ['ssh://-oProxyCommand=x', 'would not read as a name'],
    ['ssh://-oProxyCommand=x@gpu', 'would not read as a name'],
    ['ssh://%2DoProxyCommand=x@gpu', 'would not read as a name'],
    ['ssh://me%0Ahim@gpu', 'would not read as a name'],
    ['ssh://me:secret@gpu', 'has a password in it'],
    ['ssh://gpu/srv/work', 'more than a user, a host and a port'],
    ['ssh://gpu:port', 'names no host'],
    ['', 'is empty'],
  ])('%j is refused, since it %s', (place, why) => {
    expect(() => commandOfPlace([place])).toThrow(why);
  });

  it('with words behind an address is refused', () => {
    expect(() => commandOfPlace(['ssh://gpu', '-v'])).toThrow('is followed by more words');
  });

  it.each(['Gpu', '', '1gpu', 'gpu/1', 'g'.repeat(32), '-gpu', 'g pu'])('has no name such as %j', (name) => {
    expect(() => requireMachineName(name)).toThrow('is no name of a machine');
  });
});
