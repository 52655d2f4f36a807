// Pure: variables whose value a shell, the loader or git runs, calculates or looks commands up in.

const RUN_OR_LOOKED_UP = new RegExp(
  `^(${[
    'R?PS\\d|\\w*PROMPT\\w*|POSTEDIT|TIMEFMT|BASH_\\w+|BASHOPTS|SHELLOPTS|ENV|ZDOTDIR|SHELL|IFS|HOME|XDG_\\w+',
    'PATH|path|C?D?FPATH|fpath|CDPATH|cdpath|MODULE_PATH|module_path|(LD|DYLD)_\\w+|GIT_\\w+|MAIL\\w*|mailpath',
    '\\w*(EDITOR|PAGER|VISUAL|BROWSER|SHELL|_COMMAND|NULLCMD)|FCEDIT|LESSOPEN|LESSCLOSE|PERL5\\w+|RUBYOPT|G?N?U?MAKEFLAGS',
    // Of zsh: tables of what names stand for.
    '(dis_)?(functions|aliases|galiases|saliases|builtins|reswords)|commands|options|parameters|modules|nameddirs|userdirs|\\w+_functions',
  ].join('|')})$`,
);
const CALCULATED =
  /^(RANDOM|SRANDOM|SECONDS|OPTIND|LINENO|BASHPID|COLUMNS|LINES|HISTSIZE|SAVEHIST|HISTCMD|KEYTIMEOUT|LISTMAX|TMOUT|FUNCNEST|UID|EUID|GID|EGID|ERRNO|SHLVL|TTYIDLE|DIRSTACKSIZE|BAUD|LOGCHECK|REPORTTIME|REPORTMEMORY)$/;

/** Whether an assignment may change what other words of the line run; `value` is undefined where it is not known. */
export function changesCommands(name: string, value: string | undefined): boolean {
  if (!/^[A-Za-z_]\w*$/.test(name)) return true;
  const isNumber = value !== undefined && /^\d*$/.test(value);
  if (CALCULATED.test(name) || name.startsWith('GIT_')) return !isNumber;
  return RUN_OR_LOOKED_UP.test(name);
}

/** Whether a word that names a variable to be set is just the name of one that changes nothing else. */
export function isPlainName(text: string): boolean {
  return !changesCommands(text, undefined);
}
