# fettle's completion for bash, 3.2 and later: source <(fettle completion bash)

_fettle() {
    local IFS=$' \t\n'
    # bash splits words at : and = too. What stands together in the line is one.
    local -a words
    words=()
    local rest=$COMP_LINE word gap cur part i n=-1
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        gap=${rest%%[![:space:]]*}
        rest=${rest#"$gap"}
        if [[ $n -lt 0 || -n $gap ]]; then
            n=$((n + 1))
            words[n]=$word
        else
            words[n]=${words[n]}$word
        fi
        rest=${rest#"$word"}
    done
    # What is behind the cursor doesn't count.
    cur=${words[n]} part=$word
    local over=$((${#COMP_LINE} - ${#rest} - COMP_POINT))
    if ((over > 0)); then
        if ((over >= ${#cur})); then cur=; else cur=${cur:0:${#cur}-over}; fi
        if ((over >= ${#part})); then part=; else part=${part:0:${#part}-over}; fi
    fi
    # bash replaces no more than the part behind the last :, = or @.
    case $part in
    : | = | :: | @) part= ;;
    esac
    local kept=${cur%"$part"}

    local -a values abouts
    values=() abouts=()
    local value about wanted= widest=0
    while IFS=$'\t' read -r value about; do
        case $value in
        :*) wanted=${value#:} ;;
        ?*)
            value=${value#"$kept"}
            values[${#values[@]}]=$value
            abouts[${#abouts[@]}]=$about
            ((${#value} > widest)) && widest=${#value}
            ;;
        esac
    done < <(command fettle __complete bash -- "=$cur" "${words[@]:1:n-1}" 2>/dev/null)

    COMPREPLY=()
    if ((${#values[@]} == 0)); then
        case $wanted in
        files) _fettle_paths default -f "$part" ;;
        dirs) _fettle_paths dirnames -d "$part" ;;
        esac
        return 0
    fi
    # A list that is only looked at (?, ! or @) says what each value is.
    local shown=
    case ${COMP_TYPE:-0} in
    63 | 33 | 64) ((${#values[@]} > 1)) && shown=yes ;;
    esac
    for ((i = 0; i < ${#values[@]}; i++)); do
        value=${values[i]}
        if [[ -n $shown && -n ${abouts[i]} ]]; then
            printf -v value "%-${widest}s  (%s)" "$value" "${abouts[i]}"
        fi
        COMPREPLY[i]=$value
    done
    if ((${#values[@]} == 1)) && [[ ${values[0]} == */ ]]; then
        compopt -o nospace 2>/dev/null # more of it follows
    fi
}

# _fettle_paths leaves file names to readline, which knows how to quote them;
# before bash 4 it can't be asked.
_fettle_paths() {
    if compopt -o "$1" 2>/dev/null; then
        return
    fi
    local name
    while IFS= read -r name; do
        COMPREPLY[${#COMPREPLY[@]}]=$name
    done < <(compgen "$2" -- "$3")
}

complete -o nosort -F _fettle fettle 2>/dev/null || complete -F _fettle fettle
