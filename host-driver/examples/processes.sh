# Sourced by scripts that run several programs: a folder, children, and the end of all of them,
# however the script ends. A script that has more to do at its end defines `before_end`.
folder=$(mktemp -d)
children=()
before_end() { :; }
end() {
    before_end
    kill "${children[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# The reader of what is printed has left.
trap 'exit 141' PIPE

# Wait for a line of a file that a child writes; more than a minute when a core is built first.
wait_for() {
    local child=$1 file=$2 line=$3
    until grep -q "$line" "$file" 2>/dev/null; do
        if ! kill -0 "$child" 2>/dev/null; then
            cat "$file" >&2
            echo "${0##*/}: a program has ended before it was ready; what it said is above" >&2
            exit 2
        fi
        sleep 0.02
    done
}
