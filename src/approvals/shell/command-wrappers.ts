// Pure data: commands whose arguments are another command.

export interface Wrapper {
  readonly name: string;
  /** Options without a value. */
  readonly flags: readonly string[];
  /** Options whose value is the next word. */
  readonly valued: readonly string[];
  /** Number of words between the options and the command, such as the duration of `timeout`. */
  readonly words: number;
  /** Assignments may precede the command, as after `env`. */
  readonly takesAssignments?: boolean;
  /** It runs a command only after this subcommand. */
  readonly after?: RegExp | undefined;
}

/** After an unlisted option it is unknown what runs; then every following word is also checked as a command. */
export const wrappers: readonly Wrapper[] = [
  {
    name: 'sudo',
    flags: ['-n', '-E', '-H', '-S', '-k', '-b'],
    valued: ['-u', '-g', '-C', '-D', '-p', '-h'],
    words: 0,
    takesAssignments: true,
  },
  { name: 'doas', flags: ['-n'], valued: ['-u'], words: 0 },
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
  { name: 'stdbuf', flags: [], valued: ['-i', '-o', '-e', '--input', '--output', '--error'], words: 0 },
  { name: 'unbuffer', flags: ['-p'], valued: [], words: 0 },
  { name: 'setsid', flags: ['-c', '-f', '-w', '--wait', '--fork', '--ctty'], valued: [], words: 0 },
  { name: 'time', flags: ['-p', '-v', '-a'], valued: ['-f', '-o'], words: 0 },
  { name: 'command', flags: ['-p'], valued: [], words: 0 },
  { name: 'builtin', flags: [], valued: [], words: 0 },
  { name: 'exec', flags: ['-c', '-l'], valued: ['-a'], words: 0 },
  { name: 'noglob', flags: [], valued: [], words: 0 },
  { name: 'nocorrect', flags: [], valued: [], words: 0 },
  { name: '-', flags: [], valued: [], words: 0 },
  { name: 'repeat', flags: [], valued: [], words: 1 },
  { name: 'flock', flags: ['-n', '-x', '-s', '-u'], valued: ['-w', '-E'], words: 1 },
  { name: 'caffeinate', flags: ['-d', '-i', '-m', '-s', '-u'], valued: ['-t', '-w'], words: 0 },
  { name: 'arch', flags: ['-x86_64', '-arm64'], valued: [], words: 0 },
  {
    name: 'npx',
    flags: ['-y', '--yes', '--no', '--no-install', '-q'],
    valued: ['-p', '--package'],
    words: 0,
  },
  { name: 'bunx', flags: [], valued: [], words: 0 },
  { name: 'direnv', flags: [], valued: [], words: 1, after: /^exec$/ },
  { name: 'npm', flags: ['--', '-y', '--yes'], valued: [], words: 0, after: /^(exec|x)$/ },
  { name: 'pnpm', flags: [], valued: [], words: 0, after: /^(exec|dlx)$/ },
  { name: 'yarn', flags: [], valued: [], words: 0, after: /^(exec|dlx)$/ },
  { name: 'bun', flags: [], valued: [], words: 0, after: /^x$/ },
  { name: 'uv', flags: [], valued: [], words: 0, after: /^run$/ },
  { name: 'poetry', flags: [], valued: [], words: 0, after: /^run$/ },
  { name: 'pipenv', flags: [], valued: [], words: 0, after: /^run$/ },
  { name: 'bundle', flags: [], valued: [], words: 0, after: /^exec$/ },
  { name: 'mise', flags: [], valued: [], words: 0, after: /^(exec|x)$/ },
  { name: 'chronic', flags: [], valued: [], words: 0 },
];

/** Commands that append words from their input to the command they run. */
export const feeders: readonly Wrapper[] = [
  {
    name: 'xargs',
    flags: ['-0', '-r', '-t', '-p', '-x', '-i', '--replace', '--null', '--no-run-if-empty'],
    valued: [
      '-n',
      '-P',
      '-L',
      '-I',
      '-d',
      '-s',
      '-E',
      '-a',
      '-i',
      '--replace',
      '--max-args',
      '--max-procs',
      '--delimiter',
    ],
    words: 0,
  },
  { name: 'gxargs', flags: ['-0', '-r'], valued: ['-n', '-P', '-I'], words: 0 },
];

/** Commands that run others in ways that are not parsed: they have too many options, or their arguments are a script. */
const runnersOfUnknown: ReadonlySet<string> = new Set(
  `su runuser script sshpass at batch crontab entr expect pkexec systemd-run fc compgen setpriv prlimit tmux
  screen byobu zellij dtach abduco busybox toybox chroot unshare nsenter parallel sem watch viddy strace ltrace firejail
  bwrap proot fakeroot fakechroot faketime xvfb-run dbus-run-session setarch linux32 linux64 i386 x86_64 numactl cgexec choom
  capsh gosu su-exec runcon sg newgrp login start-stop-daemon daemonize socat ncat rlwrap valgrind gdb lldb perf hyperfine
  reptyr osascript wsl machinectl chpst setuidgid softlimit envdir s6-setuidgid envdir run-parts inotifywait watchexec
  watchman nodemon reflex vi vim nvim ex ed emacs`.split(/\s+/),
);
/** The dynamic loader runs the program in its arguments. */
const LOADER = /^ld(-linux|-musl|64)?[\w.-]*\.so[\d.]*$/;

/** True when a program of this name runs commands that are not parsed. */
export function isRunnerOfUnknown(name: string): boolean {
  return runnersOfUnknown.has(name) || LOADER.test(name);
}
