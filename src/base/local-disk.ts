import { statfs } from 'node:fs/promises';

/** What Linux calls the file systems that keep what is written in the memory of this machine at first (`man 2 statfs`). */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

/**
 * Whether a write into the folder waits for nothing but this machine: a server of files that does not answer would hold up
 * who writes to it. False where it cannot be told.
 */
export async function isOnLocalDisk(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  try {
    return LOCAL_TYPES.has((await statfs(folder)).type);
  } catch {
    // Not there, or not to be asked: then nothing is known of it.
    return false;
  }
}
