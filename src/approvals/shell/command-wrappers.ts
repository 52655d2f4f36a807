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
  /** Only behind this word does it run a command. */
  readonly behind?: RegExp | undefined;
}

/**
 * Behind an option that is not listed it is not known what runs. Every word that follows is taken for a command besides: a
 * denied one is found at least.
 */
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
  { name: 'direnv', flags: [], valued: [], words: 1, behind: /^exec$/ },
  { name: 'npm', flags: ['--', '-y', '--yes'], valued: [], words: 0, behind: /^(exec|x)$/ },
  { name: 'pnpm', flags: [], valued: [], words: 0, behind: /^(exec|dlx)$/ },
  { name: 'yarn', flags: [], valued: [], words: 0, behind: /^(exec|dlx)$/ },
  { name: 'bun', flags: [], valued: [], words: 0, behind: /^x$/ },
  { name: 'uv', flags: [], valued: [], words: 0, behind: /^run$/ },
  { name: 'poetry', flags: [], valued: [], words: 0, behind: /^run$/ },
  { name: 'pipenv', flags: [], valued: [], words: 0, behind: /^run$/ },
  { name: 'bundle', flags: [], valued: [], words: 0, behind: /^exec$/ },
  { name: 'mise', flags: [], valued: [], words: 0, behind: /^(exec|x)$/ },
  { name: 'chronic', flags: [], valued: [], words: 0 },
];

/** Commands that add words to the command they run, from their input. */
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

/** Commands of which it is not known what they run: their options are many, or their arguments are a text. */
const runnersOfUnknown: ReadonlySet<string> = new Set(
  `su runuser script sshpass at batch crontab entr expect pkexec systemd-run fc compgen setpriv prlimit tmux
  screen byobu zellij dtach abduco busybox toybox chroot unshare nsenter parallel sem watch viddy strace ltrace firejail
  bwrap proot fakeroot fakechroot faketime xvfb-run dbus-run-session setarch linux32 linux64 i386 x86_64 numactl cgexec choom
  capsh gosu su-exec runcon sg newgrp login start-stop-daemon daemonize socat ncat rlwrap valgrind gdb lldb perf hyperfine
  reptyr osascript wsl machinectl chpst setuidgid softlimit envdir s6-setuidgid envdir run-parts inotifywait watchexec
  watchman nodemon reflex vi vim nvim ex ed emacs`.split(/\s+/),
);
/** The loader runs the program that it is given. */
const LOADER = /^ld(-linux|-musl|64)?[\w.-]*\.so[\d.]*$/;

/** Whether it is not known what a program of this name runs. */
export function isRunnerOfUnknown(name: string): boolean {
  return runnersOfUnknown.has(name) || LOADER.test(name);
}
