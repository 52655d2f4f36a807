// Pure: the extension of the editor shares this file, so it imports nothing.

/**
 * Every mode back to what a shell expects: second screen, margins, colours, keys, mouse, focus, paste, wrapping, cursor.
 */
export const RESET_TERMINAL =
  '\x1b[?1049l\x1b[!p\x1b[r\x1b[0m\x1b[?1l\x1b>\x1b[4l\x1b[?6l\x1b[?7h\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l\x1b[?2026l\x1b[0 q\x1b[?25h';
