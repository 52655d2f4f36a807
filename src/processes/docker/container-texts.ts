// Pure: the shell texts that run in a task's container. Nothing from a caller is ever part of them.

/** A folder of the container's own memory, for its user alone: pipes between hooks and relay, and the input of hooks. */
export const RELAY_FOLDER = '/run/claude-code-bridge';

/** Exit code of the first process when the image lacks what these texts need; no program's own (126 and 127 are the shell's). */
export const UNFIT_IMAGE_CODE = 125;
/** A shell's code for a program that is not there. */
export const NOT_FOUND_CODE = 127;

/**
 * The container's first program: `sh -c TEXT name prompt-file program args…`. It waits until the relay runs and the
 * terminal has its size, and becomes the program then, with the prompt as stdin; keys come from the terminal.
 */
export const ENTRY_TEXT = `d=${RELAY_FOLDER} f=$1
shift
umask 077
mkfifo "$d/events" "$d/go" || exit ${UNFIT_IMAGE_CODE}
command -v "$1" >/dev/null || exit ${NOT_FOUND_CODE}
read -r _ <"$d/go"
umask 022
if [ -n "$f" ]; then exec "$@" <"$f"; fi
exec "$@"`;

/**
 * A hook of the CLI: passes its stdin to the relay, and prints the answer, which is one line. The pipe is
 * held open both ways, so that neither side waits for the other to open it. The relay learns of the hook's end, whatever its cause.
 */
export const HOOK_TEXT = `d=${RELAY_FOLDER} i=$$
umask 077
rm -f "$d/$i.answer" "$d/$i.body"
mkfifo "$d/$i.answer" && cat >"$d/$i.body" || exit 0
trap 'rm -f "$d/$i.answer" "$d/$i.body"; echo "gone $i" >"$d/events"' EXIT
trap 'exit 143' TERM INT HUP
exec 8<>"$d/$i.answer"
echo "ask $i" >"$d/events"
IFS= read -r a <&8 && printf '%s\\n' "$a"`;

/**
 * The relay between hooks and keeper: asks go out as \`ask <id> <bytes>\` and the body, answers come in as two lines, the id
 * and the text. When the keeper is gone its input ends, and so does the container: a session without its keeper would ask
 * nobody, for ever.
 */
export const RELAY_TEXT = `d=${RELAY_FOLDER}
until [ -p "$d/go" ]; do sleep 0.02 || sleep 1; done
exec 5<>"$d/events"
(while read -r w i <&5; do
  case $w in
    ask) n=$(wc -c <"$d/$i.body") && printf 'ask %s %s\\n' "$i" "$((n))" && cat "$d/$i.body" ;;
    gone) printf 'gone %s\\n' "$i" ;;
  esac
done) &
echo >"$d/go"
echo ready
while IFS= read -r i && IFS= read -r a; do
  if [ -p "$d/$i.answer" ]; then printf '%s\\n' "$a" >"$d/$i.answer" & fi
done
kill -TERM -1
sleep 2
kill -KILL -1`;
