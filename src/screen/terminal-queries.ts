import type { Terminal } from '@xterm/headless';
import type { Disposable } from '../base/lifecycle.js';

/** The colours that the bridge's terminal says it has: light grey on black, as a dark terminal would. */
const FOREGROUND = 'rgb:d0d0/d0d0/d0d0';
const BACKGROUND = 'rgb:0000/0000/0000';

/** Answers the questions about colours that a headless terminal leaves open; without an answer some programs wait. */
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
