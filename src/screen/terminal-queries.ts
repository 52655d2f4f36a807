import type { Terminal } from '@xterm/headless';
import type { Disposable } from '../base/lifecycle.js';

/** The colors that the bridge's terminal reports: light grey on black, like a dark terminal. */
const FOREGROUND = 'rgb:d0d0/d0d0/d0d0';
const BACKGROUND = 'rgb:0000/0000/0000';

/** Answers the color queries that xterm.js does not answer without a display; some programs wait for them. */
export function answerColourQueries(terminal: Terminal, reply: (data: string) => void): Disposable[] {
  const colours = [
    { code: 10, value: FOREGROUND },
    { code: 11, value: BACKGROUND },
    { code: 12, value: FOREGROUND },
  ];
  return colours.map(({ code, value }) =>
    terminal.parser.registerOscHandler(code, (data) => {
      if (data !== '?') return false;
      reply(`\x1b]${code};${value}\x1b\\`);
      return true;
    }),
  );
}
