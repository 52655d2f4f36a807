// Pure

/** State of a listening socket in /proc/net/tcp. */
const LISTENS = '0A';

/** Listening sockets in a text of /proc/net/tcp or tcp6. */
export function listenersInTable(table: string): { readonly inode: string; readonly port: number }[] {
  return table.split('\n').flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    const port = local?.split(':')[1];
    if (state !== LISTENS || port === undefined || inode === undefined) return [];
    return [{ inode, port: parseInt(port, 16) }];
  });
}

/** Ports in the output of `lsof -Fn`: lines such as `n*:3000`. */
export function portsInLsof(output: string): number[] {
  return output.split('\n').flatMap((line) => {
    const port = /^n.*:(\d+)$/.exec(line)?.[1];
    return port === undefined ? [] : [Number(port)];
  });
}
