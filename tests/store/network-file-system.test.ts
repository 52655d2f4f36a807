import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { networkFileSystem, sharedFuse, sharedMount } from '../../src/store/network-file-system.js';

test('a local disk is not a network file system, nor is a missing folder', async () => {
  expect(await networkFileSystem(tmpdir())).toBeUndefined();
  expect(await networkFileSystem('/nowhere/at/all')).toBeUndefined();
});

const MOUNTINFO = `27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
61 27 0:45 / /home/me rw,nosuid,nodev shared:30 - fuse.sshfs me@host:/home/me rw,user_id=1000
62 27 0:46 / /home/me/crypt rw,nosuid,nodev - fuse.gocryptfs /crypt rw,user_id=1000
63 27 0:300 / /mnt/s3 rw - fuse.rclone bucket: rw
`;

test.each([
  { mount: '0:45', dev: 45, type: 'fuse.sshfs' },
  { mount: '0:46, which is encrypted and local', dev: 46, type: undefined },
  { mount: '0:300, whose number has two parts', dev: (1 << 20) | 44, type: 'fuse.rclone' },
  { mount: '254:0', dev: 254 << 8, type: undefined },
])('the FUSE mount $mount is $type', ({ dev, type }) => {
  expect(sharedFuse(MOUNTINFO, dev)).toBe(type);
});

const MAC = `/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
devfs on /dev (devfs, local, nobrowse)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse, protect, root data)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
server:/export/home on /Users/me (nfs, nodev, nosuid, mounted by me)
//me@nas/share on /Volumes/my share (1) (smbfs, nodev, nosuid, mounted by me)
`;

test.each([
  { path: '/private/var/folders/x', type: undefined },
  { path: '/Users/me', type: 'nfs' },
  { path: '/Users/me/Library/state', type: 'nfs' },
  { path: '/Users/melanie', type: undefined },
  { path: '/Volumes/my share (1)/state', type: 'smbfs' },
])('on macOS $path lies on $type', ({ path, type }) => {
  expect(sharedMount(MAC, path)).toBe(type);
  expect(sharedMount('', path)).toBeUndefined();
});
