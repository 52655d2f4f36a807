/** How long a keeper tries to write the end of its task or process while the disk is full. Then it exits, and a server records that the keeper is gone. */
export const FULL_DISK_LIMIT_MS = 15 * 60_000;
