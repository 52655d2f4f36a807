// Pure: whether a program seems to wait for somebody to type.

/** A line that is no longer than a prompt is, and ends as prompts do. */
const PROMPT = /^.{0,118}(?:[>$#%»❯➜?:]|\)|\])\s?$/u;

/** What was typed behind the prompt of a shell or of Python. */
const TYPED = /^(?:>>>|\.\.\.|\S*[$%#❯])\s+\S/u;

/** The unfinished last line where it looks like a prompt. A hint only: nothing is decided by it. */
export function promptIn(text: string): string | undefined {
  const line = text.slice(text.lastIndexOf('\n') + 1);
  return line.trim() !== '' && PROMPT.test(line) && !TYPED.test(line) ? line.trim() : undefined;
}
