import { describe, expect, test } from 'vitest';
import { listenersInTable, portsInLsof } from '../../../src/processes/host/port-tables.js';

describe('what the system tells of processes', () => {
  test('listening sockets of /proc/net/tcp and tcp6', () => {
    const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 4243 1 0000 20 4 30 10 -1
   2: 00000000000000000000000001000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 4244 1 0 100 0 0 10 0
`;
    expect(listenersInTable(table)).toEqual([
      { inode: '4242', port: 3000 },
      { inode: '4244', port: 8081 },
    ]);
  });

  test('ports of lsof', () => {
    expect(portsInLsof('p123\nf20\nn*:3000\nn127.0.0.1:8080\nn[::1]:9229\n')).toEqual([3000, 8080, 9229]);
  });
});
