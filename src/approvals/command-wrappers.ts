// Pure data: commands whose arguments are another command.

export interface Wrapper {
  readonly name: string;
  /** Options that stand alone. */
  readonly flags: readonly string[];
  /** Options whose value is the next word. */
  readonly valued: readonly string[];
  /** Words between the options and the command, the duration of `timeout` for instance. */
  readonly words: number;
  /** The command follows assignments, as behind `env`. */
  readonly takesAssignments?: boolean;
}

/** Behind an option that is not listed, every word that follows is taken for a command: a denied one is found at least. */
export const wrappers: readonly Wrapper[] = [
  {
    name: 'sudo',
    flags: ['-n', '-E', '-H', '-i', '-s', '-S', '-k', '-b'],
    valued: ['-u', '-g', '-C', '-D', '-p', '-h'],
    words: 0,
    takesAssignments: true,
  },
  { name: 'doas', flags: ['-n', '-s'], valued: ['-u', '-C'], words: 0 },
  {
    name: 'env',
    flags: ['-i', '-', '-0', '-v', '--ignore-environment'],
    valued: ['-u', '-C', '--unset', '--chdir'],
    words: 0,
    takesAssignments: true,
  },
  {
    name: 'timeout',
    flags: ['-v', '--foreground', '--preserve-status', '--verbose'],
    valued: ['-k', '-s', '--kill-after', '--signal'],
    words: 1,
  },
  { name: 'gtimeout', flags: ['--foreground', '--preserve-status'], valued: ['-k', '-s'], words: 1 },
  { name: 'nohup', flags: [], valued: [], words: 0 },
  { name: 'nice', flags: [], valued: ['-n', '--adjustment'], words: 0 },
  { name: 'ionice', flags: ['-t'], valued: ['-c', '-n'], words: 0 },
  { name: 'chrt', flags: ['-r', '-f', '-o', '-b', '-i'], valued: [], words: 1 },
  { name: 'taskset', flags: ['-c', '-a'], valued: [], words: 1 },
  { name: 'stdbuf', flags: [], valued: ['-i', '-o', '-e'], words: 0 },
  { name: 'unbuffer', flags: ['-p'], valued: [], words: 0 },
  { name: 'setsid', flags: ['-c', '-f', '-w'], valued: [], words: 0 },
  { name: 'time', flags: ['-p', '-v', '-a'], valued: ['-f', '-o'], words: 0 },
  { name: 'command', flags: ['-p'], valued: [], words: 0 },
  { name: 'builtin', flags: [], valued: [], words: 0 },
  { name: 'exec', flags: ['-c', '-l'], valued: ['-a'], words: 0 },
  { name: 'noglob', flags: [], valued: [], words: 0 },
  { name: 'nocorrect', flags: [], valued: [], words: 0 },
  { name: '-', flags: [], valued: [], words: 0 },
  { name: 'repeat', flags: [], valued: [], words: 1 },
  { name: 'chroot', flags: [], valued: [], words: 1 },
  { name: 'unshare', flags: ['-r', '-m', '-p', '-f', '-n', '-U'], valued: [], words: 0 },
  { name: 'nsenter', flags: ['-a', '-m', '-p', '-n', '-U'], valued: ['-t'], words: 0 },
  { name: 'strace', flags: ['-f', '-c', '-q', '-v', '-y'], valued: ['-e', '-o', '-p', '-s', '-u'], words: 0 },
  { name: 'ltrace', flags: ['-f', '-c'], valued: ['-e', '-o', '-p', '-u'], words: 0 },
  { name: 'flock', flags: ['-n', '-x', '-s', '-u'], valued: ['-w', '-E'], words: 1 },
  { name: 'busybox', flags: [], valued: [], words: 0 },
  { name: 'toybox', flags: [], valued: [], words: 0 },
  { name: 'caffeinate', flags: ['-d', '-i', '-m', '-s', '-u'], valued: ['-t', '-w'], words: 0 },
  { name: 'arch', flags: ['-x86_64', '-arm64'], valued: [], words: 0 },
  { name: 'dbus-run-session', flags: ['--'], valued: [], words: 0 },
  { name: 'xvfb-run', flags: ['-a'], valued: ['-s', '-n'], words: 0 },
  { name: 'firejail', flags: [], valued: [], words: 0 },
  { name: 'npx', flags: ['-y', '--yes', '--no', '-q'], valued: ['-p', '--package'], words: 0 },
  { name: 'bunx', flags: [], valued: [], words: 0 },
  { name: 'direnv', flags: [], valued: [], words: 2 },
  { name: 'chronic', flags: [], valued: [], words: 0 },
  { name: 'watch', flags: ['-d', '-t', '-b', '-e', '-g', '-x'], valued: ['-n'], words: 0 },
];

/** Commands that add words to the command they run, from their input. */
export const feeders: readonly Wrapper[] = [
  {
    name: 'xargs',
    flags: ['-0', '-r', '-t', '-p', '-x', '--null', '--no-run-if-empty'],
    valued: ['-n', '-P', '-L', '-I', '-d', '-s', '-E', '-a'],
    words: 0,
  },
  { name: 'gxargs', flags: ['-0', '-r'], valued: ['-n', '-P', '-I'], words: 0 },
  { name: 'parallel', flags: ['-0', '-k', '--null'], valued: ['-j', '-n', '-a'], words: 0 },
];

/** Programs that read shell text: with `-c` from a word, else from a file or from their input. */
export const shells: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'zsh',
  'dash',
  'ksh',
  'mksh',
  'ash',
  'fish',
  'rbash',
  'csh',
  'tcsh',
  'pwsh',
]);

/** Commands of which nobody here can say what they run. */
export const runnersOfUnknown: ReadonlySet<string> = new Set([
  'su',
  'runuser',
  'script',
  'ssh',
  'at',
  'batch',
  'crontab',
  'entr',
  'expect',
  'pkexec',
  'systemd-run',
  'fc',
  'compgen',
]);
