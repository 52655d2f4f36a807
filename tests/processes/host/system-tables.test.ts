import { describe, expect, test } from 'vitest';
import { listenersInTable, portsInLsof } from '../../../src/processes/host/listening-ports.js';
import { cpuSecondsInStat, residentBytes, usageInPs } from '../../../src/processes/host/process-stats.js';
import { parsePsMarks } from '../../../src/pty/list-processes.js';

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

  test('processor time of /proc/pid/stat, also behind a name with brackets', () => {
    const stat = '77 (a) b (c) S 1 77 77 0 -1 4194560 1 0 0 0 150 50 25 25 20 0 1 0 12345 1000 10';
    expect(cpuSecondsInStat(stat)).toBe(2.5);
  });

  test('resident memory of /proc/pid/status; none of one that is ending', () => {
    expect(residentBytes('Name:\tx\nVmRSS:\t    2048 kB\n')).toBe(2_097_152);
    expect(residentBytes('Name:\tx\nState:\tZ\n')).toBe(0);
  });

  test('memory and time of ps', () => {
    expect(usageInPs('  2048   0:01.50\n 1024 1-02:03:04\n\n')).toEqual({
      memoryBytes: 3_145_728,
      cpuSeconds: 1.5 + 24 * 3_600 + 2 * 3_600 + 3 * 60 + 4,
    });
  });

  test('marks of ps', () => {
    const line = (pid: number, rest: string) => `${pid} 1 ${pid} S Sat Nov 22 07:00:00 2025 ${rest}`;
    const output = [
      line(10, 'sleep 5 PATH=/bin CLAUDE_CODE_BRIDGE_MARK=abc HOME=/'),
      line(11, 'sleep 6'),
    ].join('\n');
    expect(parsePsMarks(output).map(({ pid, mark }) => [pid, mark])).toEqual([
      [10, 'abc'],
      [11, undefined],
    ]);
  });
});
