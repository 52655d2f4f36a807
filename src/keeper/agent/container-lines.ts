import { finished } from 'node:stream/promises';
import { messageOf } from '../../base/errors.js';
import type { StartLine } from '../../checks/run-command.js';
import { MARK_VARIABLE } from '../../os/mark-variable.js';
import type { OpenExec } from '../../processes/docker/container.js';

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

/**
 * Runs command lines in a container, beside its program. `open` starts a program there; it gives undefined where none can run. `without`:
 * variables that the commands do not get.
 */
export function containerLines(
  open: (command: readonly string[]) => Promise<OpenExec | undefined>,
  mark: string,
  without: readonly string[],
): StartLine {
  const variable = `${MARK_VARIABLE}=${mark}`;
  return async (command, cwd) => {
    const words = ['/bin/sh', '-c', RUN, 'sh', variable, cwd, command, ...without];
    const program = await open(words).catch(ofContainer);
    if (program === undefined) return ofContainer('it does not run');
    const { stdout, stream, exitCode } = program;
    return {
      stdout,
      exited: finished(stdout).then(exitCode).catch(ofContainer),
      end: async (isOver) => {
        if (!isOver) await open(['/bin/sh', '-c', `${END}\nend "$1"`, 'sh', variable]);
        stream.destroy();
      },
    };
  };
}

function ofContainer(error: unknown): never {
  throw new Error(`the container of the task: ${messageOf(error)}`);
}
