# fettle's completion for fish: fettle completion fish | source, or this as
# ~/.config/fish/completions/fettle.fish

function __fettle_complete
    set -l words (commandline -opc)
    set -l cursor (commandline -ct)
    set -l wanted
    for line in (command fettle __complete fish -- "=$cursor" $words[2..-1] 2>/dev/null)
        switch $line
            case ':*'
                set wanted (string sub -s 2 -- $line)
            case '*'
                printf "%s\n" $line
        end
    end
    set -l kept ''
    if string match -q -- '--*=*' $cursor
        set kept (string replace -r '=.*' '=' -- $cursor)
        set cursor (string replace -r '^[^=]*=' '' -- $cursor)
    end
    switch "$wanted"
        case files
            printf '%s\n' $kept(__fish_complete_path $cursor)
        case dirs
            printf '%s\n' $kept(__fish_complete_directories $cursor)
    end
end

complete -c fettle -e
complete -c fettle -f -k -a '(__fettle_complete)'
