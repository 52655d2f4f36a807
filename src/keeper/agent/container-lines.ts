import { withinMs, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { endOf, KeptOutput, type RunLine } from '../../checks/run-command.js';
import { MARK_VARIABLE } from '../../os/mark-variable.js';
import type { OpenExec } from '../../processes/docker/container.js';

/** From the end of a command until the engine has passed on its last output. */
const READ_LIMIT_MS = 5_000;
/** Ends every process with the variable `$1` in its environment, until none is found. */
const END = `end() {
  for round in 1 2 3 4 5 6 7 8 9 10; do
    found=
    for one in /proc/[0-9]*; do
      tr '\\0' '\\n' < "$one/environ" | grep -qxF "$1" && kill -9 "\${one#/proc/}" && found=yes
    done
    [ -n "$found" ] || return 0
  done
} 2>/dev/null`;
/** The variable, the folder, the command, and the variables that it does not get. What it left behind ends with it. */
const RUN = `${END}
exec 2>&1 </dev/null
mark=$1; cd "$2" || exit 127; command=$3; shift 3
[ $# -eq 0 ] || unset "$@"
env "$mark" /bin/sh -c "$command"
code=$?
end "$mark"
exit "$code"`;

/** Runs command lines in a container, beside its program. `open` starts a program there; it gives undefined where none can run. */
export function containerLines(
  open: (command: readonly string[]) => Promise<OpenExec | undefined>,
  {
    mark,
    without,
    clock,
  }: { readonly mark: string; readonly without: readonly string[]; readonly clock: Clock },
): RunLine {
  const variable = `${MARK_VARIABLE}=${mark}`;
  return async ({ command, cwd, outputFile, ...limits }) => {
    const startMs = clock.monotonicMs();
    const kept = new KeptOutput(outputFile);
    try {
      const program = await open(['/bin/sh', '-c', RUN, 'sh', variable, cwd, command, ...without]);
      if (program === undefined) throw new Error('it does not run');
      const reading = kept.read(program.stdout);
      const how = await endOf(
        reading.then(() => 'exited' as const),
        limits,
        clock,
      );
      if (how !== 'exited') await open(['/bin/sh', '-c', `${END}\nend "$1"`, 'sh', variable]);
      await withinMs(clock, READ_LIMIT_MS, reading);
      program.stream.destroy();
      const code = how === 'exited' ? { code: await program.exitCode() } : {};
      return { how, ...code, ...kept.facts(startMs, clock) };
    } catch (error) {
      const failed = `the container of the task: ${messageOf(error)}`;
      return { how: { failed }, ...kept.facts(startMs, clock) };
    }
  };
}
