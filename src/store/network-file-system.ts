import { execFile } from 'node:child_process';
import { readFile, realpath, stat, statfs } from 'node:fs/promises';

/** File systems that several machines may share, by their magic numbers (statfs(2), `linux/magic.h`, coreutils' stat.c). */
const SHARED_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x01021997, '9p'],
  [0x5346414f, 'afs'],
  [0x6b414653, 'afs'],
  [0x73757245, 'coda'],
  [0x564c, 'ncp'],
  [0x00c36400, 'ceph'],
  [0x0bd00bd0, 'lustre'],
  [0x47504653, 'gpfs'],
  [0x7461636f, 'ocfs2'],
  [0x01161970, 'gfs2'],
  [0x19830326, 'beegfs'],
  [0x20030528, 'orangefs'],
  [0xaad7aaea, 'panfs'],
  [0xbeefdead, 'snfs'],
  [0xbacbacbc, 'vmhgfs'],
  [0x786f4256, 'vboxsf'],
  [0x7c7c6673, 'prl_fs'],
]);
const FUSE_TYPE = 0x65735546;
/** The type of a FUSE mount names its program; these reach other machines. */
const SHARED_FUSE =
  /^fuse\.(sshfs|glusterfs|ceph.*|juicefs|s3fs|rclone|gcsfuse|davfs2?|mfs|moosefs|lizardfs|gvfsd-fuse|smbnetfs|curlftpfs|goofys|blobfuse2?|seaweedfs|vmhgfs-fuse|osxfs|grpcfuse)$/;
/** mount answers within milliseconds. */
const MOUNT_LIMIT_MS = 5_000;

/**
 * The type of the network file system that holds a folder; undefined for a local disk, and when the system does not report it. Uses
 * `statfs` on Linux, and on macOS the mounts that `mount` does not call local.
 */
export async function networkFileSystem(folder: string): Promise<string | undefined> {
  if (process.platform === 'darwin') return sharedMount(await mountAnswer(), await realpath(folder));
  try {
    const { type } = await statfs(folder);
    if (type !== FUSE_TYPE) return SHARED_TYPES.get(type);
    const [mounts, { dev }] = await Promise.all([readFile('/proc/self/mountinfo', 'utf8'), stat(folder)]);
    return sharedFuse(mounts, dev);
  } catch {
    // The next user of the folder gets the error.
    return undefined;
  }
}

/** The type of the FUSE mount with this device number, if it reaches other machines; `mounts` as in proc_pid_mountinfo(5). */
export function sharedFuse(mounts: string, dev: number): string | undefined {
  // As in gnu_dev_major(3) and gnu_dev_minor(3), for numbers below 2^32.
  const number = `${(dev >>> 8) & 0xfff}:${(dev & 0xff) | ((dev >>> 12) & 0xfff00)}`;
  for (const line of mounts.split('\n')) {
    const [mount = '', kind = ''] = line.split(' - ');
    const type = kind.split(' ')[0] ?? '';
    if (mount.split(' ')[2] === number && SHARED_FUSE.test(type)) return type;
  }
  return undefined;
}

/** The type of the mount that holds `path`, if it is not local; `answer` is the output of macOS's `mount`. */
export function sharedMount(answer: string, path: string): string | undefined {
  let best: { readonly point: string; readonly options: readonly string[] } | undefined;
  for (const line of answer.split('\n')) {
    const [, point, options] = / on (\/.*) \(([^()]*)\)$/.exec(line) ?? [];
    if (point === undefined || options === undefined) continue;
    const holds = path === point || path.startsWith(point === '/' ? '/' : `${point}/`);
    if (holds && (best === undefined || point.length >= best.point.length))
      best = { point, options: options.split(', ') };
  }
  if (best === undefined || best.options.includes('local')) return undefined;
  return best.options[0];
}

function mountAnswer(): Promise<string> {
  return new Promise((resolve) => {
    execFile('/sbin/mount', { env: { LC_ALL: 'C' }, timeout: MOUNT_LIMIT_MS }, (error, stdout) =>
      resolve(error === null ? stdout : ''),
    );
  });
}
