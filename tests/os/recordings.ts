import { MARK_VARIABLE } from '../../src/os/mark-variable.js';
import type { MarkedProcess } from '../../src/os/process-info.js';
import { parseMarkedPs } from '../../src/os/ps-source.js';

/** The mark of the task in all recordings. */
export const MARK = '5f0c2a9d1e7b4c63';
const marked = `HOME=/Users/anna SHELL=/bin/zsh ${MARK_VARIABLE}=${MARK} TERM=xterm-256color`;

/** A line of `ps -o pid=,ppid=,pgid=,stat=,lstart=,command=` of macOS: command line, and the environment behind it. */
type Row = readonly [
  pid: number,
  ppid: number,
  pgid: number,
  stat: string,
  time: string,
  command: string,
  env?: string,
];

/**
 * A Mac on which a task runs: keeper 2101, its terminal's shell 2110 (/bin/sh is under system protection and shows no
 * environment), Claude Code 2111, and a server 2140 that was left behind in a group of its own.
 */
export const macRows: readonly Row[] = [
  [0, 0, 0, 'Ss', '08:00:00', 'kernel_task'],
  [1, 0, 1, 'Ss', '08:00:01', '/sbin/launchd'],
  [88, 1, 88, 'Ss', '08:00:09', '/usr/libexec/logd'],
  [
    152,
    1,
    152,
    'Ss',
    '08:00:10',
    '/System/Library/PrivateFrameworks/SkyLight.framework/Resources/WindowServer -daemon',
  ],
  [
    301,
    1,
    301,
    'Ss',
    '08:01:02',
    '/System/Library/CoreServices/loginwindow.app/Contents/MacOS/loginwindow console',
  ],
  [402, 1, 402, 'S', '08:01:20', '/System/Library/CoreServices/Finder.app/Contents/MacOS/Finder'],
  [
    640,
    1,
    640,
    'S',
    '08:02:11',
    '/System/Applications/Mail.app/Contents/MacOS/Mail',
    'HOME=/Users/anna TERM=x',
  ],
  [641, 640, 640, 'Z', '08:02:12', '(Mail Helper)'],
  [655, 1, 655, 'S', '08:02:30', '/Applications/Safari.app/Contents/MacOS/Safari', 'HOME=/Users/anna'],
  [700, 1, 700, 'S', '08:03:00', '/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal'],
  [710, 700, 710, 'Ss', '08:03:01', 'login -pf anna'],
  [711, 710, 711, 'S', '08:03:01', '-zsh'],
  [720, 711, 720, 'T', '08:04:00', 'vim notes.md', 'HOME=/Users/anna TERM=xterm'],
  [721, 711, 721, 'S+', '09:10:00', `tail -f log ${MARK_VARIABLE}=${MARK} x`, 'HOME=/Users/anna'],
  [2000, 1, 2000, 'S', '09:00:00', '/Applications/Claude.app/Contents/MacOS/Claude', 'HOME=/Users/anna'],
  [2001, 2000, 2000, 'S', '09:00:02', 'node /opt/bridge/dist/main.js', 'HOME=/Users/anna'],
  [2101, 1, 2101, 'Ss', '09:05:00', 'node /opt/bridge/dist/keeper.js task_x', 'HOME=/Users/anna'],
  [2110, 2101, 2110, 'Ss+', '09:05:01', '/bin/sh -c n=$1 f=$2'],
  [2111, 2110, 2110, 'S+', '09:05:01', 'claude --settings {}', marked],
  [2112, 2111, 2112, 'S', '09:05:20', '/bin/zsh -c npm test'],
  [2113, 2112, 2112, 'R', '09:05:21', 'node test.js', marked],
  [2140, 1, 2140, 'S', '09:06:00', 'node server.js', marked],
  [2141, 2140, 2140, 'S', '09:06:01', '/usr/bin/ssh build'],
];

/** The output of `ps -A -ww`, with `-E` when the environment is asked for. */
export function macPs(rows: readonly Row[], withEnvironment: boolean): string {
  const lines = rows.map(([pid, ppid, pgid, stat, time, command, env]) => {
    const shown = withEnvironment && env !== undefined ? `${command} ${env}` : command;
    const numbers = [pid, ppid, pgid].map((number) => String(number).padStart(5)).join(' ');
    return `${numbers} ${stat.padEnd(4)} Mon Nov  2 ${time} 2026     ${shown}`;
  });
  return `${lines.join('\n')}\n`;
}

/** The recording of the Mac as the source reads it. */
export function macTable(): MarkedProcess[] {
  return parseMarkedPs(macPs(macRows, false), macPs(macRows, true));
}
