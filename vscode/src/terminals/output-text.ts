// Pure.
const ESCAPE = '\u001b';
const MARK = /\u001b\]633;[^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
/** The beginning of a mark, or of the end of a line, at the end of a piece. */
const UNFINISHED = /(?:\u001b(?:\](?:6(?:3(?:3(?:;[^\u0007\u001b]*\u001b?)?)?)?)?)?|\r)$/;
/** What zsh shows after the output of each command: %B%S%#%s%b, as many spaces as the line has room for, and CR SP CR (PROMPT_SP in zshoptions(1)). */
const ZSH_END =
  '\u001b \\[ 1 m \u001b \\[ 7 m [%#] \u001b \\[ 2 7 m \u001b \\[ 1 m \u001b \\[ 0 m \\x20{0,1000} \r \\x20 \r'.split(
    ' ',
  );
const ZSH_END_WHOLE = new RegExp(`${ZSH_END.join('')}$`);
/** Its beginning, at the end of a piece. */
const ZSH_END_BEGUN = new RegExp(`${ZSH_END.reduceRight((more, part) => `${part}(?:${more})?`, '')}$`);
/** A mark holds a command line at most. */
const MAX_MARK_CHARS = 512 * 1024;

/** The output of a command as it comes from the editor: takes out the marks of shell integration and the end that zsh shows, and ends lines as the program did. */
export class OutputText {
  #held = '';

  /** What can be said so far. */
  take(piece: string): string {
    const text = (this.#held + piece).replace(MARK, '');
    const start = Math.min(this.#unfinishedFrom(text), ZSH_END_BEGUN.exec(text)?.index ?? text.length);
    this.#held = text.slice(start);
    return text.slice(0, start).replaceAll('\r\n', '\n');
  }

  /** What was held back for more, at the end of the output. */
  rest(): string {
    const rest = this.#held.replace(ZSH_END_WHOLE, '');
    this.#held = '';
    return rest;
  }

  #unfinishedFrom(text: string): number {
    // A mark may end in ESC \, so its own ESC may be the last but one.
    const last = text.lastIndexOf(ESCAPE);
    const before = last === text.length - 1 && last > 0 ? text.lastIndexOf(ESCAPE, last - 1) : -1;
    for (const start of [before, last, text.length - 1]) {
      if (start < 0 || text.length - start > MAX_MARK_CHARS) continue;
      const tail = text.slice(start);
      if (UNFINISHED.exec(tail)?.index === 0) return start;
    }
    return text.length;
  }
}
