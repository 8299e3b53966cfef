# shellcheck shell=bash
# The completion of a program; PROGRAM stands for its name. What it knows of the
# options is in _PROGRAM_table, which shell_files.cc puts before this.

# Sets `found` to those of `words` that begin with $1 or, if none does, to those
# that do so but for capital letters and underscores.
_PROGRAM_match() {
  local word key=${1//_/-} other
  found=()
  for word in "${words[@]}"; do
    [[ $word != "$1"* ]] || found+=("$word")
  done
  ((${#found[@]} == 0)) || return
  for word in "${words[@]}"; do
    other=${word//_/-}
    [[ ${other,,} != "${key,,}"* ]] || found+=("$word")
  done
}

# Sets `found` to what may stand in place of $1, of the kind $takes.
_PROGRAM_find() {
  local paths=()
  case $takes in
    file) mapfile -t paths < <(compgen -f -- "$1") ;;
    folder) mapfile -t paths < <(compgen -d -- "$1") ;;
    yaml) mapfile -t paths < <(
      compgen -d -- "$1"
      compgen -f -X '!*.yaml' -- "$1"
      compgen -f -X '!*.yml' -- "$1"
    ) ;;
  esac
  # Outside of completion, as in a test, there is nothing to set.
  ((${#paths[@]} == 0)) || compopt -o filenames 2>/dev/null
  _PROGRAM_match "$1"
  # A path goes before a name that is only like what was typed.
  ((${#paths[@]} == 0)) || [[ ${found[0]} == "$1"* ]] || found=()
  found+=("${paths[@]}")
}

# Sets `typed` to the words up to the cursor, and `piece` to the last of what
# bash has taken them apart into, which it does at "=" and ":" too: a piece that
# no blank stands before belongs to the one before.
_PROGRAM_split() {
  local line=${COMP_LINE:0:COMP_POINT} blanks i
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    blanks=${line%%[![:space:]]*}
    ((i > 0)) && [[ ! $blanks ]] || typed+=('')
    piece=${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || piece=${line#"$blanks"}
    typed[-1]+=$piece
    line=${line#*"$piece"}
  done
}

# Sets, by the words but the last, `command`, the number of its operands, the
# options that are given, and what the last word is if it is a value.
_PROGRAM_read() {
  local i word
  for ((i = 1; i < ${#typed[@]} - 1; ++i)); do
    word=${typed[i]}
    if [[ $takes ]]; then
      takes=''
    elif [[ $word == -* ]]; then
      _PROGRAM_table "$command" "$word"
      given+="--$option "
      [[ $word != *=* ]] || takes=''
    elif [[ $word =~ $redirection ]]; then
      [[ $word != *[\<\>] ]] || takes='file' words=()
    elif [[ ! $command ]]; then
      command=$word
      _PROGRAM_table "$command" '' # Sets `delegate`.
    else
      operand=$((operand + 1))
    fi
  done
}

# Completes what follows a command that stands for the program $delegate: as if
# this program were called with it.
_PROGRAM_delegate() {
  local line=${COMP_LINE:0:COMP_POINT}
  COMPREPLY=()
  [[ ${COMP_WORDS[1]} == "$command" ]] || return 0
  line=${line#*"${COMP_WORDS[0]}"}
  COMP_LINE=$delegate${line#*"$command"}
  COMP_POINT=${#COMP_LINE}
  COMP_WORDS=("$delegate" "${COMP_WORDS[@]:2}")
  COMP_CWORD=$((COMP_CWORD - 1))
  "_$delegate"
}

_PROGRAM() {
  local IFS=$' \t\n' redirection='^[0-9&]*[<>]' typed=() piece=''
  local names=() operands=() option='' takes='' words=()
  local command='' delegate='' operand=0 given=' ' word
  _PROGRAM_split
  _PROGRAM_read
  if [[ $delegate ]]; then
    _PROGRAM_delegate
    return
  fi

  local value=${typed[-1]} stem='' kept=''
  # Readline replaces only what stands behind the last "=" or ":".
  if [[ $piece == *[!=:]* ]]; then kept=${value%"$piece"}; else kept=$value; fi
  if [[ $takes ]]; then
    : # A value, which is the whole word.
  elif [[ $value =~ $redirection ]]; then
    takes='file' words=()
    stem=${value%"${value##*[<>]}"}
  elif [[ $value == -*=* ]]; then
    _PROGRAM_table "$command" "$value"
    stem=${value%%=*}=
  else
    _PROGRAM_table "$command" ''
    takes=${operands[operand]-}
    if [[ $value == -* || ! $takes ]]; then
      takes='word' words=()
      for word in "${names[@]}"; do
        # shellcheck disable=SC2206  # A name and its aliases.
        [[ $given == *" ${word%% *} "* ]] || words+=($word)
      done
    fi
  fi

  COMPREPLY=()
  [[ $takes ]] || return 0
  value=${value#"$stem"}
  kept=${kept#[\"\']} value=${value#[\"\']}
  kept=${kept//\\/} value=${value//\\/}
  if [[ $takes == files ]]; then
    takes='file'
    stem+=${value%"${value##*,}"}
    value=${value##*,}
  fi
  local found=()
  _PROGRAM_find "$value"
  for word in "${found[@]}"; do
    word=$stem$word
    COMPREPLY+=("${word#"$kept"}")
  done
}

complete -F _PROGRAM PROGRAM
