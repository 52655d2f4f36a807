// Pure: output as a person reads it.

/**
 * A sequence of ECMA-48: CSI; a string (OSC, DCS, SOS, PM, APC), which the next sequence or the end of the text cuts short; or
 * another one. A longer string is taken for text: a program that does not end one would hide all of its output.
 */
const SEQUENCE =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u0018\u001a\u001b]{0,4096}(?:\u0007|\u001b\\|[\u0018\u001a]|(?=\u001b)|$)|\u001b[ -/]*[0-~]/g;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/**
 * Text without escape sequences and control characters. Of a line that was written over (a progress bar) what was written
 * last is shown; backspaces remove what is before them.
 */
export function plainText(raw: string): string {
  const text = raw.replace(SEQUENCE, '').replaceAll('\r\n', '\n');
  if (!CONTROL.test(text)) return text;
  return text
    .split('\n')
    .map((line) => plainLine(line))
    .join('\n');
}

function plainLine(line: string): string {
  const written = line.replace(/\r+$/, '');
  const last = written.slice(written.lastIndexOf('\r') + 1);
  let shown = '';
  for (const char of last) {
    if (char === '\b') shown = shown.slice(0, -1);
    else if (char === '\t' || !CONTROL.test(char)) shown += char;
  }
  return shown;
}
