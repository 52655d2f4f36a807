import { statfsSync } from 'node:fs';

/**
 * ext2 to ext4, XFS, Btrfs, tmpfs, ZFS, F2FS (statfs(2)): file systems in the kernel of this machine, so synchronous calls
 * return quickly. overlayfs is missing on purpose: its lower layers may be on any file system.
 */
const LOCAL_FILE_SYSTEMS = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x2fc12fc1, 0xf2f52010]);
/** Size of the cache; it is cleared when full. */
const MAX_DEVICES = 1_024;

/** Tells which devices have a local file system, with a cache. */
export class LocalDevices {
  readonly #known = new Map<bigint, boolean>();

  /** `path` must name an open file on the device `dev`. */
  has(path: string, dev: bigint): boolean {
    const known = this.#known.get(dev);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_DEVICES) this.#known.clear();
    const isLocal = LOCAL_FILE_SYSTEMS.has(statfsSync(path).type);
    this.#known.set(dev, isLocal);
    return isLocal;
  }
}
