#compdef fettle
# fettle's completion for zsh: source <(fettle completion zsh), after compinit,
# or this as a file _fettle in a folder of fpath.

_fettle() {
    local -a lines described
    local line value about wanted
    lines=("${(@f)$(command fettle __complete zsh -- "=${(Q)PREFIX}" "${(@Q)words[2,CURRENT-1]}" 2>/dev/null)}")
    for line in $lines; do
        value=${line%%$'\t'*}
        case $value in
        :*) wanted=${value#:} ;;
        ?*)
            about=
            [[ $line == *$'\t'* ]] && about=${line#*$'\t'}
            value=${value//\\/\\\\}
            described+=("${value//:/\\:}${about:+:$about}")
            ;;
        esac
    done
    if (( $#described )); then
        _describe -V fettle described
        return
    fi
    [[ $PREFIX == --*=* ]] && compset -P '*='
    case $wanted in
    files) _files ;;
    dirs) _files -/ ;;
    esac
}

if [[ ${funcstack[1]} == _fettle ]]; then
    _fettle "$@"
elif (( $+functions[compdef] )); then
    compdef _fettle fettle
else
    print -u2 'fettle: completion in zsh needs compinit first: autoload -Uz compinit && compinit'
fi
