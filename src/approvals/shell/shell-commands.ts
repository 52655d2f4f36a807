// Pure data: names that bash or zsh do not run as a program.

function names(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((name) => name !== ''));
}

/** Keywords of either shell. */
export const keywords = names(`
  ! [[ ]] case coproc do done elif else end esac fi for foreach function if in nocorrect repeat select then time
  until while { }
`);

/**
 * Builtins that may run, evaluate or assign their arguments: those of bash 5.2 (`compgen -b`) and zsh 5.9 with its modules,
 * except those that only print, look up, end processes or change the folder.
 */
export const evaluators = names(`
  - . The [ alias autoload bg bind bindkey break builtin bye caller command compadd comparguments compcall
  compctl compdescribe compfiles compgen compgroups complete compopt compquote compset comptags comptry
  compvalues continue declare dirs disable disown echotc echoti emulate enable eval exec exit export fc fg float
  functions getln getopts hash help history integer jobs let limit local log logout mapfile noglob
  popd print printf private pushd pushln r read readarray readonly rehash return sched set setopt shift
  shopt source strftime suspend syserror sysopen sysread sysseek syswrite test times trap ttyctl typeset ulimit
  umask unalias unfunction unhash unlimit unset unsetopt vared wait zcompile zcurses zdelattr zformat
  zgdbmpath zgetattr zle zlistattr zmodload zparseopts zprof zpty zregexparse zselect zsetattr zsocket zstat
  zstyle zsystem ztcp ztie zuntie
`);
