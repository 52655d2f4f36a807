// Pure: whether an index tells git to skip files, from its bytes (gitformat-index(5)).

const HEADER_BYTES = 12;
/** Times, device, inode, mode, owner and size of an entry; its hash and its flags follow. */
const FACT_BYTES = 40;
const ENTRY_STEP = 8;
/** assume-unchanged, and further flags: skip-worktree among them. */
const SKIPS = 0xc000;
const NAME_LENGTH = 0x0fff;
/** These say nothing about the flags of files, unlike a split index and a sparse one. */
const HARMLESS = ['TREE', 'REUC', 'UNTR'];

/**
 * True when the index has no file that git was told to skip. False when it has one, or when that takes more to know: other versions
 * than 2 and 3, other extensions, damage. `hashBytes`: the length of object names in the repository.
 */
export function skipsNothing(index: Buffer, hashBytes: number): boolean {
  const end = index.length - hashBytes;
  if (end < HEADER_BYTES || index.toString('latin1', 0, 4) !== 'DIRC') return false;
  if (![2, 3].includes(index.readUInt32BE(4))) return false;
  let at = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const name = at + FACT_BYTES + hashBytes + 2;
    if (name > end) return false;
    const flags = index.readUInt16BE(name - 2);
    if ((flags & SKIPS) !== 0) return false;
    const length = flags & NAME_LENGTH;
    // A longer name ends with its NUL.
    const nameEnd = length < NAME_LENGTH ? name + length : index.indexOf(0, name);
    if (nameEnd < name) return false;
    at += (nameEnd - at + ENTRY_STEP) & -ENTRY_STEP;
  }
  // Where this one is found at the end, git may read the entries in another order.
  if (at > end || index.includes('EOIE', at)) return false;
  while (at + 8 <= end && HARMLESS.includes(index.toString('latin1', at, at + 4)))
    at += 8 + index.readUInt32BE(at + 4);
  return at === end;
}
