#!/usr/bin/env python3
"""Prints what completes the program's words in a shell, made of its own help: scripts/lib/completions.py bash|zsh|fish PROGRAM

The library that reads the command line makes completions too, but none for the options of playing, since playing is named by no word.
"""

import sys

import help_dump


def bash(playing, commands):
    """One function; the word before the cursor decides whether a value or an option follows."""
    yield "# bash completion of scanout"
    yield "_scanout() {"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" options commands=""'
    yield "    COMPREPLY=()"
    yield '    case "${COMP_WORDS[1]}" in'
    for command in commands:
        yield "        %s)" % command.name
        yield from ("    " + line for line in bash_of(command))
        yield "            ;;"
    yield "        *)"
    yield from ("    " + line for line in bash_of(playing))
    yield '            [ "$COMP_CWORD" -ne 1 ] || commands="%s"' % " ".join(command.name for command in commands)
    yield "            ;;"
    yield "    esac"
    yield '    if [[ "$word" == -* ]]; then mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word"); return; fi'
    yield "    compopt -o filenames 2>/dev/null"
    yield '    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word"; compgen -f -- "$word")'
    yield "}"
    yield "complete -F _scanout scanout"


def bash_of(command):
    yield '        options="%s"' % " ".join(name for option in command.options for name in option.names)
    yield '        case "$before" in'
    for option in command.options:
        if option.is_flag or option.is_positional:
            continue
        if option.choices:
            answer = 'mapfile -t COMPREPLY < <(compgen -W "%s" -- "$word"); return' % " ".join(option.choices)
        elif option.takes_file:
            answer = 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word"); return'
        else:
            answer = "return"
        yield "            %s) %s ;;" % ("|".join(option.names), answer)
    yield "        esac"


def quoted(text):
    """A text between the shell's single quotation marks."""
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(playing, commands):
    yield "#compdef scanout"
    yield "_scanout() {"
    yield "    if (( CURRENT == 2 )); then"
    described = " ".join(quoted("%s:%s" % (command.name, command.abstract.replace(":", "\\:"))) for command in commands)
    yield "        local -a commands=(%s)" % described
    yield "        _describe command commands"
    yield "    fi"
    yield '    case "$words[2]" in'
    for command in commands:
        yield "        %s) shift words; (( CURRENT-- )); _arguments -S %s ;;" % (command.name, " ".join(zsh_of(command)))
    yield "        *) _arguments -S %s ;;" % " ".join(zsh_of(playing))
    yield "    esac"
    yield "}"
    yield '_scanout "$@"'


def zsh_of(command):
    for option in command.options:
        text = option.first_sentence.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
        action = "(%s)" % " ".join(option.choices) if option.choices else "_files" if option.takes_file else " "
        value = "" if option.is_flag else ":%s:%s" % (option.value.replace(":", "\\:"), action)
        if option.is_positional:
            continue
        for name in option.names:
            yield quoted("%s%s[%s]%s" % ("*" if option.repeats else "", name, text, value))
    yield quoted("*:file:_files")


def fish(playing, commands):
    yield "# fish completion of scanout"
    names = " ".join(command.name for command in commands)
    for command in commands:
        yield "complete -c scanout -n __fish_use_subcommand -a %s -d %s" % (command.name, quoted(command.abstract))
    for command in [playing] + commands:
        where = "not __fish_seen_subcommand_from " + names if command is playing else "__fish_seen_subcommand_from " + command.name
        for option in command.options:
            if option.is_positional:
                continue
            words = ["-l " + name[2:] if name.startswith("--") else "-s " + name[1:] for name in option.names]
            if not option.is_flag:
                words.append("-r -F" if option.takes_file else "-x")
            if option.choices:
                words.append("-a " + quoted(" ".join(option.choices)))
            yield "complete -c scanout -n %s %s -d %s" % (quoted(where), " ".join(words), quoted(option.first_sentence))


if __name__ == "__main__":
    shells = {"bash": bash, "zsh": zsh, "fish": fish}
    print("\n".join(shells[sys.argv[1]](*help_dump.read(sys.argv[2]))))
