import { statfsSync } from 'node:fs';

/**
 * ext2 to ext4, XFS, Btrfs, tmpfs, ZFS, F2FS (statfs(2)): file systems that no other machine and no other program answers for, so that
 * what is asked of them is answered at once. overlayfs is not among them: what lies below it may be anything.
 */
const NEAR_FILE_SYSTEMS = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x2fc12fc1, 0xf2f52010]);
/** Mounts that are remembered; beyond that all are forgotten. */
const MAX_DEVICES = 1_024;

/** Which devices hold a file system of this machine. */
export class NearDevices {
  readonly #known = new Map<bigint, boolean>();

  /** `place` leads to something on the device `dev` that is open at this moment. */
  has(place: string, dev: bigint): boolean {
    const known = this.#known.get(dev);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_DEVICES) this.#known.clear();
    const isNear = NEAR_FILE_SYSTEMS.has(statfsSync(place).type);
    this.#known.set(dev, isNear);
    return isNear;
  }
}
