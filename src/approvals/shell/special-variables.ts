// Pure: recognizes variables whose value a shell, the loader or git runs, evaluates or searches for commands.

const RUN_OR_SEARCHED = new RegExp(
  `^(${[
    'R?PS\\d|\\w*PROMPT\\w*|POSTEDIT|TIMEFMT|BASH_\\w+|BASHOPTS|SHELLOPTS|ENV|ZDOTDIR|SHELL|IFS|HOME|XDG_\\w+',
    'PATH|path|C?D?FPATH|fpath|CDPATH|cdpath|MODULE_PATH|module_path|(LD|DYLD)_\\w+|GIT_\\w+|MAIL\\w*|mailpath',
    '\\w*(EDITOR|PAGER|VISUAL|BROWSER|SHELL|_COMMAND|NULLCMD)|FCEDIT|LESSOPEN|LESSCLOSE|PERL5\\w+|RUBYOPT|G?N?U?MAKEFLAGS',
    // zsh's tables of functions, aliases and so on.
    '(dis_)?(functions|aliases|galiases|saliases|builtins|reswords)|commands|options|parameters|modules|nameddirs|userdirs|\\w+_functions',
  ].join('|')})$`,
);
const EVALUATED =
  /^(RANDOM|SRANDOM|SECONDS|OPTIND|LINENO|BASHPID|COLUMNS|LINES|HISTSIZE|SAVEHIST|HISTCMD|KEYTIMEOUT|LISTMAX|TMOUT|FUNCNEST|UID|EUID|GID|EGID|ERRNO|SHLVL|TTYIDLE|DIRSTACKSIZE|BAUD|LOGCHECK|REPORTTIME|REPORTMEMORY)$/;

/** True when an assignment may change what other words of the line run. `value` is undefined when it is unknown. */
export function changesCommands(name: string, value: string | undefined): boolean {
  if (!/^[A-Za-z_]\w*$/.test(name)) return true;
  const isNumber = value !== undefined && /^\d*$/.test(value);
  if (EVALUATED.test(name) || name.startsWith('GIT_')) return !isNumber;
  return RUN_OR_SEARCHED.test(name);
}

/** True for the name of a variable that is safe to set to any value. */
export function isPlainName(text: string): boolean {
  return !changesCommands(text, undefined);
}
